"""What the votes and the virtual games say about a set of ratings, and the ratings that they make likeliest.

Parameters x: theta of each policy in natural units, then the advantage of the left side. Matrices (k, k) over policies
have the left policy as row and the right one as column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankings.counts import LEFT_SCORES, Counts, Floats
from rankings.graph import Booleans

STEPS = 200
TOLERANCE = 1e-7
"""Natural units. Newton doubles the digits with every step, so the error left is far smaller than the last step."""


class FitError(ArithmeticError):
    """Newton's method did not settle: counts beyond anything sensible."""


def sigmoid(values: Floats) -> Floats:
    found: Floats = np.exp(-np.logaddexp(0.0, -values))
    return found


def margins(x: Floats) -> Floats:
    """(k, k) how far i on the left is ahead of j on the right."""
    found: Floats = x[:-1, None] - x[None, :-1] + x[-1]
    return found


def assembled(pairs: Floats) -> Floats:
    """(k + 1, k + 1) sum of pairs[i, j] d d^T, where d = e_i - e_j + e_side is the gradient of the margin."""
    rows, columns = pairs.sum(axis=1), pairs.sum(axis=0)
    corner = np.diag(rows + columns) - pairs - pairs.T
    edge = (rows - columns)[:, None]
    return np.block([[corner, edge], [edge.T, pairs.sum(keepdims=True)]])


def by_policy(pairs: Floats) -> Floats:
    """(k,) sums over all pairs that a policy is in."""
    found: Floats = pairs.sum(axis=1) + pairs.sum(axis=0)
    return found


@dataclass(frozen=True)
class Games:
    """Sums over the votes of each pair, (k, k). w is what a vote weighs, y what it is worth to the left side."""

    played: Floats
    """Sum of w."""
    score: Floats
    """Sum of w y."""
    squares: tuple[Floats, Floats, Floats]
    """Sums of w², w² y and w² y²: what squared residuals are made of."""

    @classmethod
    def of(cls, counts: Counts, weights: Floats) -> Games:
        size = len(counts.names)
        sums = counts.outcomes @ np.stack([np.ones(4), LEFT_SCORES, LEFT_SCORES**2], axis=1)  # (rows, 3)
        cell = counts.left * size + counts.right

        def spread(values: Floats) -> Floats:
            return np.bincount(cell, values, size * size).astype(float).reshape(size, size)

        zero, one, two = (spread(weights**2 * column) for column in sums.T)
        return cls(spread(weights * sums[:, 0]), spread(weights * sums[:, 1]), (zero, one, two))

    @property
    def scored(self) -> Floats:
        """(k, k) what i has scored against j, from either side."""
        return self.score + (self.played - self.score).T

    @property
    def met(self) -> Booleans:
        return (self.played + self.played.T) > 0

    def only(self, pairs: Booleans) -> Games:
        zero, one, two = self.squares
        return Games(self.played * pairs, self.score * pairs, (zero * pairs, one * pairs, two * pairs))

    def information(self, x: Floats) -> Floats:
        """(k, k) Fisher information of the votes of each pair about their margin."""
        margin = margins(x)
        return self.played * sigmoid(margin) * sigmoid(-margin)

    def squared_residuals(self, x: Floats) -> Floats:
        """(k, k) sum of w² (y - p)²."""
        p = sigmoid(margins(x))
        zero, one, two = self.squares
        return two - 2.0 * p * one + p**2 * zero

    def expected_squares(self, x: Floats) -> Floats:
        """(k, k) what the squared residuals would sum to if every vote were a win or a loss drawn from the model."""
        margin = margins(x)
        return self.squares[0] * sigmoid(margin) * sigmoid(-margin)


@dataclass(frozen=True)
class Posterior:
    """Votes, `prior` virtual games per parameter (half won, half lost against 0), and who can be compared at all.

    `with_side` fits the left side's advantage too; else it stays 0.
    """

    games: Games
    prior: float
    comparable: Booleans
    with_side: bool = False

    @property
    def free(self) -> int:
        return len(self.comparable) + self.with_side

    def log_density(self, x: Floats) -> float:
        margin, games = margins(x), self.games
        votes = games.score * np.logaddexp(0.0, -margin) + (games.played - games.score) * np.logaddexp(0.0, margin)
        virtual = 0.5 * self.prior * (np.logaddexp(0.0, -x) + np.logaddexp(0.0, x))
        return -float(votes.sum() + virtual.sum())

    def gradient(self, x: Floats) -> Floats:
        """(free,)"""
        margin, games = margins(x), self.games
        residual = games.score * sigmoid(-margin) - (games.played - games.score) * sigmoid(margin)
        votes = np.append(residual.sum(axis=1) - residual.sum(axis=0), residual.sum())
        return (votes - self.prior * (sigmoid(x) - 0.5))[: self.free]

    def virtual_information(self, x: Floats) -> Floats:
        """(free,)"""
        return (self.prior * sigmoid(x) * sigmoid(-x))[: self.free]

    def hessian(self, x: Floats) -> Floats:
        """(free, free) of minus the log density. Without a prior a group's mean is undefined; ones pin it to zero."""
        found = assembled(self.games.information(x))[: self.free, : self.free] + np.diag(self.virtual_information(x))
        if self.prior == 0:
            found[: len(self.comparable), : len(self.comparable)] += self.comparable
        return found

    def mode(self) -> Floats:
        """(k + 1,) the likeliest x, by Newton's method with halved steps where a full one would climb too far."""
        x = np.zeros(len(self.comparable) + 1)
        if not self.free:
            return x
        height = self.log_density(x)
        for _ in range(STEPS):
            step = np.zeros_like(x)
            step[: self.free] = np.linalg.solve(self.hessian(x), self.gradient(x))
            while (found := self.log_density(x + step)) < height - 1e-12 * abs(height):
                step /= 2.0
            x, height = x + step, found
            if np.abs(step).max() < TOLERANCE:
                return x
        raise FitError(f"no rest after {STEPS} Newton steps; the last was {np.abs(step).max():.2g}")
