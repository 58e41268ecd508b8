"""The likelihood of ratings, given the votes and the virtual games, and the ratings that maximise it.

Parameters x: theta of each contestant in natural units, then the advantage of the left side. Matrices (k, k) over
contestants have the left contestant as row and the right one as column.

With m the margin and nu >= 0, a vote is a win of the left side, a win of the right one or a tie in proportion to
exp(m / 2), exp(-m / 2) and nu (Davidson 1970). With nu = 0 ties are no outcome of their own but half a win each, and
the expected score is sigmoid(m): Bradley and Terry's model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankings.tally.arrays import Booleans, Floats, Integers, kept
from rankings.tally.counts import Counts

STEPS = 200
TOLERANCE = 1e-7
"""Natural units. Newton doubles the digits with every step, so the error left is far smaller than the last step."""

ROUNDING = 1e-9
"""Votes; no vote weighs so little, since a voter does not cast a milliard on one day."""

MANY, MOST_GRADIENTS, RESIDUAL = 200, 40, 1e-13
"""Unknowns from which on Newton starts from odds and conjugate gradients are tried, how many steps they get, and what
residual is none."""


class FitError(ArithmeticError):
    """Newton's method did not settle: counts beyond anything sensible."""


def sigmoid(values: Floats, small: Floats | None = None) -> Floats:
    """With one exponential, which cannot overflow: `small`, exp(-abs(values)), where it is at hand."""
    small = np.exp(-np.abs(values)) if small is None else small
    return np.where(values >= 0, 1.0, small) / (1.0 + small)


def log_sum(values: Floats) -> Floats:
    """log (exp(v / 2) + exp(-v / 2))."""
    size = np.abs(values)
    return np.log1p(np.exp(-size)) + size / 2.0


def margins(x: Floats) -> Floats:
    """(k, k) how far i on the left is ahead of j on the right."""
    found: Floats = x[:-1, None] - x[None, :-1] + x[-1]
    return found


def assembled(pairs: Floats) -> Floats:
    """(k + 1, k + 1) sum of pairs[i, j] d d^T, where d = e_i - e_j + e_side is the gradient of the margin."""
    edge = (pairs.sum(axis=1) - pairs.sum(axis=0))[:, None]
    return np.block([[between(pairs), edge], [edge.T, pairs.sum(keepdims=True)]])


def between(pairs: Floats) -> Floats:
    """(k, k) the same without the side: sum of pairs[i, j] d d^T, where d = e_i - e_j."""
    found = pairs + pairs.T
    np.negative(found, out=found)
    found.flat[:: len(pairs) + 1] += by_contestant(pairs)
    return found


def solved(matrix: Floats, vector: Floats) -> Floats:
    """The solution of a positive definite system. Of many unknowns by conjugate gradients, which take few steps where
    votes connect most contestants, unless they do not come to rest soon.
    """
    found = _by_conjugate_gradients(matrix, vector) if len(vector) >= MANY else None
    return np.linalg.solve(matrix, vector).astype(float) if found is None else found


def _by_conjugate_gradients(matrix: Floats, vector: Floats) -> Floats | None:
    """None where the residual is not below RESIDUAL of the vector within MOST_GRADIENTS steps."""
    x, residual, scale = np.zeros_like(vector), vector, 1.0 / np.diag(matrix)
    direction = scale * residual
    height, goal = residual @ direction, RESIDUAL * np.linalg.norm(vector)
    for _ in range(MOST_GRADIENTS):
        if np.linalg.norm(residual) <= goal:
            return x
        ahead = matrix @ direction
        stride = height / (direction @ ahead)
        x, residual = x + stride * direction, residual - stride * ahead
        before, height = height, residual @ (scale * residual)
        direction = scale * residual + height / before * direction
    return None


def by_contestant(pairs: Floats) -> Floats:
    """(k,) sums over all pairs that a contestant is in."""
    found: Floats = pairs.sum(axis=1) + pairs.sum(axis=0)
    return found


def tie_share(margin: Floats, nu: float) -> Floats:
    """Probability of a tie."""
    return nu / (2.0 * np.cosh(np.minimum(np.abs(margin), 700.0) / 2.0) + nu)


def expected_score(margin: Floats, nu: float, small: Floats | None = None) -> Floats:
    """What the left side may expect of a vote. `small`: as for `sigmoid`."""
    win = sigmoid(margin, small)
    return win if nu == 0 else win + (0.5 - win) * tie_share(margin, nu)


def score_variance(margin: Floats, nu: float, small: Floats | None = None) -> Floats:
    """Variance of that score, which is also the Fisher information of a vote about the margin. `small`: as for
    `sigmoid`."""
    small = np.exp(-np.abs(margin)) if small is None else small
    variance = small / (1.0 + small) ** 2
    if nu == 0:
        return variance
    tie = tie_share(margin, nu)
    return variance * (1.0 - tie) ** 2 + 0.25 * tie * (1.0 - tie)


def likeliest(x: Floats, log_density: Callable[[Floats], float], step: Callable[[Floats], Floats]) -> Floats:
    """(n,) by Newton's method from x on, with halved steps where a full one would climb too far: densities are concave.
    A step is asked for at the very array that the density was asked for last.

    Raises FitError where it comes to no rest."""
    height = log_density(x)
    for _ in range(STEPS):
        stride = step(x)
        ahead = x + stride
        if np.abs(stride).max(initial=0.0) < TOLERANCE:
            return ahead
        while (found := log_density(ahead)) < height - 1e-12 * abs(height):
            stride /= 2.0
            ahead = x + stride
        x, height = ahead, found
    raise FitError(f"no rest after {STEPS} Newton steps; the last was {np.abs(stride).max():.2g}")


def votes_of_even(counts: Counts) -> Floats:
    """(rows,) votes that say tie or both bad."""
    *_, tie, both_bad = kept(counts, "outcomes").T
    found: Floats = np.add(tie, both_bad, dtype=np.float64)
    return found


@dataclass(frozen=True)
class Games:
    """Sums over the votes of each pair, (k, k). w is what a vote weighs, y what it is worth to the left side."""

    played: Floats
    """Sum of w."""
    score: Floats
    """Sum of w y."""
    squares: tuple[Floats, Floats, Floats]
    """Sums of w², w² y and w² y², from which squared residuals come."""
    tied: Floats
    """Sum of w over ties and both_bad."""
    nu: float = 0.0

    @classmethod
    def of(cls, counts: Counts, weights: Floats) -> Games:
        first, *rest = (cls._of(part, weights[rows]) for rows, part in counts.chunks())
        return functools.reduce(cls.plus, rest, first)

    @classmethod
    def _of(cls, counts: Counts, weights: Floats) -> Games:
        size, cell = len(counts.names), counts.cell

        def spread(values: Floats) -> Floats:
            return np.bincount(cell, values, size * size).astype(float, copy=False).reshape(size, size)

        votes, scores = counts.votes.astype(float), counts.scores
        ties = votes_of_even(counts)
        if not len(weights) or weights.min() == 1.0:
            return cls._of_whole_votes(spread(votes), spread(scores), spread(ties))
        votes, scores, ties = weights * votes, weights * scores, weights * ties
        played, score, tied = spread(votes), spread(scores), spread(ties)
        w, wy, wyy = (spread(weights * values) for values in (votes, scores, scores - ties / 4.0))  # y is 1, 0 or 1/2
        return cls(played, score, (w, wy, wyy), tied)

    @classmethod
    def _of_whole_votes(cls, played: Floats, score: Floats, tied: Floats) -> Games:
        """Every vote weighs 1, so that its square does too."""
        return cls(played, score, (played, score, score - tied / 4.0), tied)

    def plus(self, other: Games) -> Games:
        """All votes of both."""
        played, score, tied = self.played + other.played, self.score + other.score, self.tied + other.tied
        if self.squares[0] is self.played and other.squares[0] is other.played:
            return self._of_whole_votes(played, score, tied)
        w, wy, wyy = (own + more for own, more in zip(self.squares, other.squares, strict=True))
        return replace(self, played=played, score=score, squares=(w, wy, wyy), tied=tied)

    def less(self, other: Games) -> Games:
        """Without some of these votes. To be fitted with a prior: who scored nothing may seem to have scored a trifle,
        though a pair without a vote has none.
        """
        played, score, tied = self.played - other.played, self.score - other.score, self.tied - other.tied
        w, wy, wyy = (own - gone for own, gone in zip(self.squares, other.squares, strict=True))
        left = replace(self, played=played, score=score, squares=(w, wy, wyy), tied=tied)
        return left.only(played > ROUNDING)

    @cached_property
    def scored(self) -> Floats:
        """(k, k) what i has scored against j, from either side."""
        return self.score + (self.played - self.score).T

    def odds(self) -> Floats:
        """(k,) log odds of what each scored, with a virtual draw: near the likeliest thetas where all met alike."""
        share = (self.scored.sum(axis=1) + 0.5) / (by_contestant(self.played) + 1.0)
        found: Floats = np.log(share / (1.0 - share))
        return found

    @property
    def met(self) -> Booleans:
        return (self.played + self.played.T) > 0

    def only(self, pairs: Booleans) -> Games:
        if pairs.all():
            return self
        played, score, tied = self.played * pairs, self.score * pairs, self.tied * pairs
        w, wy, wyy = (each * pairs for each in self.squares)
        return replace(self, played=played, score=score, squares=(w, wy, wyy), tied=tied)

    def expected_scores(self, x: Floats) -> Floats:
        """(k, k) what the left contestant may expect of a vote."""
        return expected_score(margins(x), self.nu)

    def variances(self, x: Floats) -> Floats:
        """(k, k) of one vote's score, which is its information too."""
        return score_variance(margins(x), self.nu)

    def information(self, x: Floats) -> Floats:
        """(k, k) Fisher information of the votes of each pair about their margin."""
        return self.played * self.variances(x)

    def squared_information(self, x: Floats) -> Floats:
        """(k, k) sum of each vote's, squared."""
        return np.asarray(self.squares[0] * self.variances(x) ** 2)

    def information_matrix(self, x: Floats) -> Floats:
        """(k, k) that of the votes about theta; singular, for only differences of theta are known."""
        return assembled(self.information(x))[:-1, :-1]

    def squared_residuals(self, x: Floats) -> Floats:
        """(k, k) sum of w² (y - p)²."""
        return self._squares_about(self.expected_scores(x))

    def surprises(self, x: Floats) -> tuple[Floats, Floats]:
        """(k, k) each: the squared residuals, and what they would sum to if every vote were drawn from the model."""
        margin = margins(x)
        small = np.exp(-np.abs(margin))
        expected = self.squares[0] * score_variance(margin, self.nu, small)
        return self._squares_about(expected_score(margin, self.nu, small)), expected

    def _squares_about(self, p: Floats) -> Floats:
        zero, one, two = self.squares
        found: Floats = two - 2.0 * p * one + p**2 * zero
        return found


class Met(NamedTuple):
    """The pairs with votes, (n,) each: of those without, nothing has to be computed."""

    cell: Integers
    left: Integers
    right: Integers
    played: Floats
    score: Floats

    @classmethod
    def of(cls, games: Games) -> Met:
        cell = np.flatnonzero(games.played)
        left, right = np.divmod(cell, max(1, len(games.played)))
        return cls(cell, left, right, games.played.ravel()[cell], games.score.ravel()[cell])

    def margins(self, x: Floats) -> Floats:
        """(n,) how far the left contestant is ahead of the right one."""
        found: Floats = x[self.left] - x[self.right] + x[-1]
        return found


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

    @cached_property
    def met(self) -> Met:
        return Met.of(self.games)

    def at(self, x: Floats) -> Point:
        return Point(self, x)

    def log_density(self, x: Floats) -> float:
        """Up to what the ties add, which does not depend on x."""
        return self.at(x).log_density()

    def gradient(self, x: Floats) -> Floats:
        """(free,)"""
        return self.at(x).gradient()

    def virtual_information(self, x: Floats) -> Floats:
        """(free,)"""
        return (self.prior * score_variance(x, 0.0))[: self.free]

    def hessian(self, x: Floats) -> Floats:
        """(free, free) of minus the log density. Without a prior a group's mean is undefined; ones pin it to zero."""
        return self.at(x).hessian()

    def mode(self, near: Floats | None = None) -> Floats:
        """(k + 1,) the likeliest x. `near` (k,): thetas close to it, which save steps."""
        x = np.zeros(len(self.comparable) + 1)
        if not self.free:
            return x
        if near is not None:
            x[:-1] = near
        elif self.free >= MANY:
            x[:-1] = self.games.odds()
        here = self.at(x)

        def log_density(ahead: Floats) -> float:
            nonlocal here
            here = self.at(ahead)
            return here.log_density()

        def step(_: Floats) -> Floats:
            found = np.zeros_like(x)
            found[: self.free] = solved(here.hessian(), here.gradient())
            return found

        return likeliest(x, log_density, step)


@dataclass(frozen=True)
class Point:
    """A posterior at one x. Exponentials, which take most of the time, are computed once for all that is asked."""

    posterior: Posterior
    x: Floats

    @cached_property
    def margin(self) -> Floats:
        """(n,) of the pairs with votes."""
        return self.posterior.met.margins(self.x)

    @cached_property
    def small(self) -> Floats:
        """(n,) exp of minus the margin's size, which cannot overflow."""
        return np.exp(-np.abs(self.margin))

    @property
    def nu(self) -> float:
        return self.posterior.games.nu

    def log_density(self) -> float:
        met = self.posterior.met
        partition = np.log1p(self.small) + np.abs(self.margin) / 2.0
        if self.nu > 0:
            partition = np.logaddexp(partition, np.log(self.nu))
        votes = (met.score - met.played / 2.0) @ self.margin - met.played @ partition
        virtual = self.posterior.prior * log_sum(self.x)
        return float(votes - virtual.sum())

    def gradient(self) -> Floats:
        posterior, met, size = self.posterior, self.posterior.met, len(self.x) - 1
        residual = met.score - met.played * expected_score(self.margin, self.nu, self.small)
        of_contestants = np.bincount(met.left, residual, size) - np.bincount(met.right, residual, size)
        votes = np.append(of_contestants, residual.sum())
        return (votes - posterior.prior * (sigmoid(self.x) - 0.5))[: posterior.free]

    def hessian(self) -> Floats:
        posterior, met = self.posterior, self.posterior.met
        pairs = np.zeros(posterior.games.played.shape)
        pairs.reshape(-1)[met.cell] = met.played * score_variance(self.margin, self.nu, self.small)
        found = assembled(pairs) if posterior.with_side else between(pairs)
        found.flat[:: posterior.free + 1] += posterior.virtual_information(self.x)
        if posterior.prior == 0:
            found[: len(pairs), : len(pairs)] += posterior.comparable
        return found
