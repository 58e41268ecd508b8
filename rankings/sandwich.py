"""How sure a fit is: bread^-1 meat bread^-1, the bread being the Hessian and the meat the gradient's observed variance.

The inverse Hessian alone supposes that every vote is a win or a loss; with ties it is up to a fifth too wide, and with
voters of own taste too narrow. The sandwich (Huber 1967, White 1980) looks at what the votes really did.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from rankings.counts import Counts, Floats
from rankings.graph import Booleans
from rankings.posterior import Games, Posterior, assembled, by_policy

COLLAPSED = (0.25, 0.5)
"""A policy whose votes surprise less than this share of what the model expects is suspect: fully at the first number,
not at all from the second on, ..."""
FEW_SURPRISES = (1.0, 3.0)
"""... where they also amount to few decisive votes (one between equals adds 1/4): fully up to 4, no more from 12 on.
Fading keeps an interval from jumping with one more vote, or with the last bit of a sum."""
VOTERS_AT_ONCE = 4_000


def sandwich(posterior: Posterior, x: Floats, bread: Floats, meat: Floats) -> Floats:
    """(k, k) covariance of theta; `bread` is the inverse Hessian. A virtual game's outcome is what nobody knows."""
    covariance: Floats = bread @ (meat + np.diag(posterior.virtual_information(x))) @ bread
    return covariance


def meat_of_votes(posterior: Posterior, x: Floats) -> Floats:
    """(k, k) variance of the gradient, each vote for itself: what the votes show, or the model says where few do.

    The squared residuals of a pair vanish when it only ties, or when one side wins all: that is a lack of surprises,
    not of doubt. Policies with hardly any get the model's own variance, which makes the sandwich the inverse Hessian.
    """
    games = posterior.games
    seen = games.squared_residuals(x)
    surprise, expected = by_policy(seen), by_policy(games.expected_squares(x))
    share = surprise / np.maximum(expected, np.finfo(float).tiny)
    doubt = _fading(share, *COLLAPSED) * _fading(surprise, *FEW_SURPRISES)
    doubt_of_pair = np.maximum(doubt[:, None], doubt[None, :])
    return assembled(seen + doubt_of_pair * (games.information(x) - seen))[:-1, :-1]


def _fading(values: Floats, full: float, none: float) -> Floats:
    """1 up to `full`, 0 from `none` on, a straight line between."""
    return np.clip((none - values) / (none - full), 0.0, 1.0)


def meat_of_voters(votes: Counts, weights: Floats, posterior: Posterior, x: Floats) -> Floats | None:
    """(k, k) variance of the gradient when a voter's votes hang together; None with fewer than two known voters.

    Unknown voters count as one person per vote. The few-clusters factor is n / (n - 1).
    """
    kept = posterior.comparable.ravel()[votes.cell]
    known = kept & (votes.voter >= 0)
    meat = np.zeros((len(votes.names), len(votes.names)))
    if not known.all():
        unknown = kept & ~known
        alone = replace(Games.of(votes.where(unknown), weights[unknown]), nu=posterior.games.nu)
        meat = assembled(alone.squared_residuals(x))[:-1, :-1]
        votes, weights = votes.where(known), weights[known]
    voters = votes.voters
    if voters < 2:
        return None
    for _, gradients in gradients_of_voters(votes, weights, posterior, x):
        meat += voters / (voters - 1.0) * gradients.T @ gradients
    return meat


def gradients_of_voters(
    votes: Counts, weights: Floats, posterior: Posterior, x: Floats
) -> Iterator[tuple[int, Floats]]:
    """(first, (voters, k)): the gradients of some voters at a time, from voter number `first` on. All must be known."""
    if (votes.voter[1:] < votes.voter[:-1]).any():
        order = np.argsort(votes.voter, kind="stable")
        votes, weights = votes.where(order), weights[order]
    p = posterior.games.expected_scores(x).ravel()[votes.cell]
    residual = weights * (votes.scores - votes.votes * p)
    size = len(votes.names)
    last = int(votes.voter[-1]) if len(votes.voter) else -1
    for first in range(0, last + 1, VOTERS_AT_ONCE):
        rows = slice(*np.searchsorted(votes.voter, [first, first + VOTERS_AT_ONCE]))
        at, cells = (votes.voter[rows] - first) * size, min(VOTERS_AT_ONCE, last + 1 - first) * size
        found = np.bincount(at + votes.left[rows], residual[rows], cells).astype(float, copy=False)
        found -= np.bincount(at + votes.right[rows], residual[rows], cells)
        yield first, found.reshape(-1, size)


def field(information: Floats, comparable: Booleans) -> Floats:
    """(k, k) row i: what each policy weighs in the field that i is measured against, by the votes' information (k,).

    Weighing by information keeps a newcomer's uncertainty out of everybody else's interval.
    """
    weights = np.where(comparable, information[None, :], 0.0)
    shares: Floats = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return shares


def variance_in_field(covariance: Floats, weights: Floats) -> Floats:
    """(k,) variance of each theta against the mean of its field."""
    contrast = np.eye(len(weights)) - weights
    found: Floats = np.maximum(np.sum((contrast @ covariance) * contrast, axis=1), 0.0)
    return found


def variance_of_differences(covariance: Floats) -> Floats:
    """(k, k) variance of theta i - theta j."""
    own = np.diag(covariance)
    found: Floats = np.maximum(own[:, None] + own[None, :] - 2.0 * covariance, 0.0)
    return found
