"""A board from its votes, as `rankings.trust.influence` tests it. No Django."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit, Refits, influence_of_voters
from rankings.fit.posterior import sigmoid
from rankings.tally.arrays import Floats, Integers
from rankings.tally.counts import Counts
from rankings.trust.influence import BoardUnderTest, Refit


def standing(counts: Counts, found: Fit, ranked: Collection[str], *, cap: int) -> BoardUnderTest:
    """`found`: the fit of these counts under this cap. Voters have their numbers in the counts."""
    moved = influence_of_voters(counts, cap=cap)
    known = counts.voter >= 0
    refits = Refits.of(counts, cap=cap)

    def without(gone: Integers) -> Refit:
        left_out = np.zeros(len(moved) + 1, dtype=bool)  # the last place is for UNKNOWN_VOTER
        left_out[gone] = True
        return Refit(*refits.without(left_out[counts.voter]))

    return BoardUnderTest(
        found.names,
        found.rating,
        found.group,
        np.array([name in ranked for name in found.names], dtype=bool),
        moved,
        _leverage(counts.where(known), found, counts.weights(cap)[known], len(moved)),
        np.bincount(counts.voter[known], counts.votes[known], len(moved)).astype(np.int64),
        without,
    )


def _leverage(counts: Counts, found: Fit, weights: Floats, voters: int) -> Floats:
    """(voters,) tr H^-1 H_v: the information of each voter's votes as a share of all on the same pairs."""
    left, right = counts.left, counts.right
    p = sigmoid((found.rating[left] - found.rating[right]) / SCALE)
    own = np.diag(found.posterior)
    variance = (own[left] + own[right] - 2.0 * found.posterior[left, right]) / SCALE**2
    each = np.where(found.group[left] == found.group[right], weights * counts.votes * p * (1.0 - p) * variance, 0.0)
    return np.bincount(counts.voter, each, voters).astype(float)
