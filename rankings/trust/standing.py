"""A board from its votes, as `rankings.trust.influence` tests it. No Django."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit, Refits, influence_of_voters
from rankings.fit.posterior import sigmoid
from rankings.tally.arrays import Floats, Integers, Narrow, is_sorted, kept
from rankings.tally.counts import Counts
from rankings.trust.influence import BoardUnderTest, Refit


@dataclass(frozen=True)
class RowsOfVoters:
    """Where the rows of each voter lie: a voter is left out in the time that its own rows take."""

    order: Integers | None
    """(rows,) places of rows by voter; None where rows are sorted by voter."""
    voter: Narrow
    """(rows,) sorted."""

    @classmethod
    def of(cls, voter: Narrow) -> RowsOfVoters:
        if is_sorted(voter):
            return cls(None, voter)
        order = np.argsort(voter, kind="stable")
        return cls(order, voter[order])

    def of_voters(self, voters: Integers) -> Integers:
        """(n,) places of the rows of these voters, in order."""
        voters = np.unique(voters).astype(self.voter.dtype, copy=False)
        first, last = (np.searchsorted(self.voter, voters, side) for side in ("left", "right"))
        many = last - first
        found: Integers = np.arange(many.sum()) + np.repeat(first - (np.cumsum(many) - many), many)
        return found if self.order is None else np.sort(self.order[found])


def standing(counts: Counts, found: Fit, ranked: Collection[str], *, cap: int) -> BoardUnderTest:
    """`found`: the fit of these counts under this cap. Voters have their numbers in the counts."""
    moved = influence_of_voters(counts, cap=cap)
    voter = kept(counts, "voter")
    refits, rows = Refits.of(counts, cap=cap), RowsOfVoters.of(voter)

    def without(gone: Integers) -> Refit:
        return Refit(*refits.without(rows.of_voters(gone)))

    return BoardUnderTest(
        found.names,
        found.rating,
        found.group,
        np.array([name in ranked for name in found.names], dtype=bool),
        moved,
        _leverage(counts, found, refits.weights, len(moved)),
        _votes(counts, len(moved)),
        without,
    )


def _votes(counts: Counts, voters: int) -> Integers:
    """(voters,) how many each has."""
    found = np.zeros(voters)
    for _, some in counts.chunks():
        known = kept(some, "voter") >= 0
        found += np.bincount(kept(some, "voter")[known], some.votes[known], voters)
    return found.astype(np.int64)


def _leverage(counts: Counts, found: Fit, weights: Floats, voters: int) -> Floats:
    """(voters,) tr H^-1 H_v: the information of each voter's votes as a share of all on the same pairs."""
    p = sigmoid((found.rating[:, None] - found.rating[None, :]) / SCALE)
    own = np.diag(found.posterior)
    variance = (own[:, None] + own[None, :] - 2.0 * found.posterior) / SCALE**2
    together = found.group[:, None] == found.group[None, :]
    of_a_vote = np.where(together, p * (1.0 - p) * variance, 0.0).ravel()
    leverage = np.zeros(voters)
    for rows, some in counts.chunks():
        known = kept(some, "voter") >= 0
        own = weights[rows] * some.votes * of_a_vote[some.cell]
        leverage += np.bincount(kept(some, "voter")[known], own[known], voters)
    return leverage
