"""A board from its votes, as `rankings.trust.influence` tests it. No Django."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit, Refits, influence_of_voters
from rankings.fit.posterior import sigmoid
from rankings.tally.arrays import Floats, Integers, kept
from rankings.tally.counts import Counts
from rankings.trust.influence import BoardUnderTest, Refit


def standing(counts: Counts, found: Fit, ranked: Collection[str], *, cap: int) -> BoardUnderTest:
    """`found`: the fit of these counts under this cap. Voters have their numbers in the counts."""
    moved = influence_of_voters(counts, cap=cap)
    voter = kept(counts, "voter")
    known = voter >= 0
    refits = Refits.of(counts, cap=cap)

    def without(gone: Integers) -> Refit:
        left_out = np.zeros(len(moved) + 1, dtype=bool)  # the last place is for UNKNOWN_VOTER
        left_out[gone] = True
        return Refit(*refits.without(left_out[voter]))

    return BoardUnderTest(
        found.names,
        found.rating,
        found.group,
        np.array([name in ranked for name in found.names], dtype=bool),
        moved,
        _leverage(counts.where(known), found, counts.weights(cap)[known], len(moved)),
        np.bincount(voter[known], counts.votes[known], len(moved)).astype(np.int64),
        without,
    )


def _leverage(counts: Counts, found: Fit, weights: Floats, voters: int) -> Floats:
    """(voters,) tr H^-1 H_v: the information of each voter's votes as a share of all on the same pairs."""
    p = sigmoid((found.rating[:, None] - found.rating[None, :]) / SCALE)
    own = np.diag(found.posterior)
    variance = (own[:, None] + own[None, :] - 2.0 * found.posterior) / SCALE**2
    together = found.group[:, None] == found.group[None, :]
    of_a_vote = np.where(together, p * (1.0 - p) * variance, 0.0).ravel()
    leverage = np.zeros(voters)
    for rows, some in counts.chunks():
        leverage += np.bincount(kept(some, "voter"), weights[rows] * some.votes * of_a_vote[some.cell], voters)
    return leverage
