"""The covariance of a fit: bread meat bread, the bread being the inverse Hessian, the meat the gradient's variance.

The inverse Hessian alone supposes that every vote is a win or a loss; with ties it is up to a fifth too wide, and with
voters of own taste too narrow. The sandwich (Huber 1967, White 1980) uses the variance that the votes show.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankings.fit.posterior import Games, Posterior, assembled, between, by_contestant
from rankings.tally.arrays import Floats, Integers, Narrow, is_sorted, kept
from rankings.tally.counts import Counts

COLLAPSED = (0.25, 0.5)
"""A contestant whose votes surprise less than this share of what the model expects is suspect: fully at the first
number, not at all from the second on, ..."""
FEW_SURPRISES = (1.0, 3.0)
"""... where they also amount to few decisive votes (one between equals adds 1/4): fully up to 4, no more from 12 on.
Fading keeps an interval from jumping with one more vote, or with the last bit of a sum."""
VOTERS_AT_ONCE = 4_000


def meat_of_votes(posterior: Posterior, x: Floats) -> Floats:
    """(k, k) variance of the gradient, each vote for itself: what the votes show, or the model says where few do.

    The squared residuals of a pair vanish when it only ties, or when one side wins all: that is a lack of surprises,
    not of doubt. Contestants with hardly any get the model's own variance, which makes the sandwich the inverse
    Hessian."""
    games = posterior.games
    seen, model = games.surprises(x)
    surprise, expected = by_contestant(seen), by_contestant(model)
    share = surprise / np.maximum(expected, np.finfo(float).tiny)
    doubt = _fading(share, *COLLAPSED) * _fading(surprise, *FEW_SURPRISES)
    if doubt.any():
        seen += np.maximum(doubt[:, None], doubt[None, :]) * (games.information(x) - seen)
    found = between(seen)
    found.flat[:: len(found) + 1] += posterior.virtual_information(x)
    return found


def _fading(values: Floats, full: float, none: float) -> Floats:
    """1 up to `full`, 0 from `none` on, a straight line between."""
    return np.clip((none - values) / (none - full), 0.0, 1.0)


def meat_of_voters(
    votes: Counts, weights: Floats, posterior: Posterior, x: Floats, bread: Floats, contestants: int
) -> tuple[Floats, Floats] | None:
    """(m, m) variance of the gradient when the votes of each voter are correlated, and (k,) to how many equal voters
    those of a contestant amount: (sum of their information)² / sum of its squares (L. Kish, Survey Sampling, 1965), inf
    without votes. None with fewer than two known voters. Unknown ones are one person per vote. `contestants`: k; a
    contestant on each setting is a parameter of its own.

    A fit to few voters follows each of them, so that residuals are too small: to first order, a voter's by the leverage
    H_v H^-1 g_v, H_v being the voter's information and g_v the gradient. Half of it is added back, the first term of
    the correction by R. Bell, D. McCaffrey, Survey Methodology 28 (2002).
    """
    known = kept(votes, "voter") >= 0
    if posterior.comparable.all():
        counted = np.ones(len(known), dtype=bool)
    else:
        counted = posterior.comparable.ravel()[votes.cell]
    known &= counted
    if not known.any():
        return None
    meat = np.zeros((len(votes.names), len(votes.names)))
    total, squares = np.zeros(contestants), np.zeros(contestants)
    if not known.all():
        unknown = counted & ~known
        alone = replace(Games.of(votes.where(unknown), weights[unknown]), nu=posterior.games.nu)
        meat = assembled(alone.squared_residuals(x))[:-1, :-1]
        sums = by_contestant(alone.information(x)), by_contestant(alone.squared_information(x))
        total, squares = (each.reshape(-1, contestants).sum(axis=0) for each in sums)
        votes, weights = votes.where(known), weights[known]
    if votes.voters < 2:
        return None
    variances = posterior.games.variances(x).ravel()
    for own_votes, own_weights, spread, gradients in _gradients(*by_voter(votes, weights), posterior.games, x):
        moved, own = gradients @ bread, own_weights * own_votes.votes * variances[own_votes.cell]
        surprise = own * (moved[spread.place, spread.left] - moved[spread.place, spread.right])
        corrected = gradients + spread(surprise, -surprise) / 2.0
        meat += corrected.T @ corrected
        of_contestants = spread(own, own).reshape(len(gradients), -1, contestants).sum(axis=1)
        total += of_contestants.sum(axis=0)
        squares += (of_contestants**2).sum(axis=0)
    degrees = np.full(contestants, np.inf)
    np.divide(total**2, squares, out=degrees, where=squares > 0)
    return meat, degrees


def gradients_of_voters(votes: Counts, weights: Floats, games: Games, x: Floats) -> Iterator[Floats]:
    """(voters, m) the gradients of some voters at a time, by their numbers. All must be known."""
    for _, _, _, gradients in _gradients(*by_voter(votes, weights), games, x):
        yield gradients


def by_voter(votes: Counts, weights: Floats) -> tuple[Counts, Floats]:
    """The same rows, sorted by voter."""
    voter = kept(votes, "voter")
    if is_sorted(voter):
        return votes, weights
    order = np.argsort(voter, kind="stable")
    return votes.where(order), weights[order]


def _gradients(
    votes: Counts, weights: Floats, games: Games, x: Floats
) -> Iterator[tuple[Counts, Floats, PerVoter, Floats]]:
    """Some rows, sorted by voter, and their weights, the sums over the voters of these, and their gradients
    (voters, m)."""
    expected = games.expected_scores(x).ravel()
    for rows, place, voters in some_voters(kept(votes, "voter")):
        some, own = votes.where(rows), weights[rows]
        residual = own * (some.scores - some.votes * expected[some.cell])
        spread = PerVoter(place, some.left, some.right, (voters, len(votes.names)))
        yield some, own, spread, spread(residual, -residual)


def some_voters(voter: Narrow) -> Iterator[tuple[slice, Integers, int]]:
    """The rows of VOTERS_AT_ONCE voters at a time, each row's voter counted from 0, and how many voters these are.
    `voter` (rows,): sorted, from 0."""
    end = int(voter[-1]) + 1 if len(voter) else 0
    firsts = np.arange(0, end, VOTERS_AT_ONCE)
    places = [*np.searchsorted(voter, firsts.astype(voter.dtype)).tolist(), len(voter)]
    for first, rows in zip(firsts.tolist(), itertools.starmap(slice, itertools.pairwise(places)), strict=True):
        yield rows, np.subtract(voter[rows], first, dtype=np.int64), min(VOTERS_AT_ONCE, end - first)


class PerVoter(NamedTuple):
    """From rows (rows,) to a matrix (voters, m) of that shape."""

    place: Integers
    left: Integers
    right: Integers
    shape: tuple[int, ...]

    def __call__(self, to_left: Floats, to_right: Floats) -> Floats:
        voters, size = self.shape
        at = self.place * size
        found = np.bincount(at + self.left, to_left, voters * size).astype(float, copy=False)
        found += np.bincount(at + self.right, to_right, voters * size)
        return found.reshape(voters, size)


def variance_of_differences(covariance: Floats) -> Floats:
    """(..., k, k) variance of theta i - theta j."""
    own = np.diagonal(covariance, axis1=-2, axis2=-1)
    found: Floats = own[..., :, None] + own[..., None, :]
    found -= 2.0 * covariance
    return np.maximum(found, 0.0, out=found)
