"""The influence of voters on the top three: whose removal changes it. No Django.

Leaving voter v out moves the ratings by about H^-1 g_v, where g_v is the sum of the gradients of v's votes (the
infinitesimal jackknife). That is cheap for all voters at once, but too small for voters who cast a large share of the
votes. The error grows with the voter's leverage, tr H^-1 H_v, where H_v is the information of v's votes. Voters whose
estimate is further from a change than DOUBT times the leverage are decided by it; for each of the others the board is
fitted again without the voter. The fewest voters whose removal swaps two neighbours are sought among those who help the
upper one most (T. Broderick, R. Giordano, R. Meager, An automatic finite-sample robustness metric, 2020; for arenas:
Huang et al., arXiv 2508.11847).

Only policies that votes connect are compared, before and after: the order is that of the largest such group.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypedDict

import numpy as np

from rankings.tally.arrays import Booleans, Floats, Integers

PLACES = 3
MOST_REFITS = 400
"""The most voters that are left out one by one, those nearest to a change first."""
FARTHEST = 10
"""Voters who move ratings most, who are always left out too, to measure how far."""
DOUBT = 5.0
"""The largest error of the first order as a share of what a voter moves, in units of the leverage. The mean is 0.7;
docs/ranking-study.md says how many voters that misses."""


class Handover(TypedDict):
    """The fewest `voters` without whom `lower` overtakes `upper`, their `votes` and the `share` of all votes; null
    where half of all voters are not enough."""

    upper: str
    lower: str
    gap: float
    voters: int | None
    votes: int | None
    share: float | None


class Influence(TypedDict):
    """`movers`: voters (by number) without whom, each alone, the top three would be others or in another order.
    `largest`: the farthest that any one voter moves a ranked policy [Elo points]. `looked_at`: how many voters were
    left out for a new fit; `complete`: all who were near a change, else some are estimated."""

    movers: list[int]
    largest: float
    handovers: list[Handover]
    looked_at: int
    complete: bool


class Refit(NamedTuple):
    """Without some voters: `rating` (k,) Elo points; `group` (k,) policies of one label are connected by votes."""

    rating: Floats
    group: Integers


@dataclass(frozen=True)
class BoardUnderTest:
    """`rating` (k,) Elo points; `group` (k,) labels of connected policies; `ranked` (k,) whether a policy has a rank;
    `moved` (voters, k) what each voter adds to each rating, to first order; `leverage` (voters,); `votes` (voters,);
    `without` fits again without some voters."""

    names: Sequence[str]
    rating: Floats
    group: Integers
    ranked: Booleans
    moved: Floats
    leverage: Floats
    votes: Integers
    without: Callable[[Integers], Refit]

    @cached_property
    def order(self) -> list[int]:
        """Places of the ranked policies of the largest group, best first."""
        ranked = np.flatnonzero(self.ranked)
        if not len(ranked):
            return []
        largest = int(np.argmax(np.bincount(self.group[ranked])))
        best_first = ranked[np.argsort(-self.rating[ranked], kind="stable")]
        return [place for place in best_first.tolist() if self.group[place] == largest]

    @cached_property
    def pairs(self) -> Integers:
        """(pairs, 2) each of the top three, and each ranked below it."""
        order = self.order
        found = [(upper, lower) for place, upper in enumerate(order[:PLACES]) for lower in order[place + 1 :]]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def reach(self) -> Floats:
        """(voters,) how much farther each moves one ranked policy than another, to first order."""
        most, least = np.full(len(self.moved), -np.inf), np.full(len(self.moved), np.inf)
        for place in self.order:
            np.maximum(most, self.moved[:, place], out=most)
            np.minimum(least, self.moved[:, place], out=least)
        most -= least
        return most

    def changed(self, gone: Integers) -> tuple[bool, float]:
        """Whether another top three is left without some voters, and how far ranked policies have moved."""
        left = self.without(gone)
        upper, lower = self.pairs.T
        together = left.group[upper] == left.group[lower]
        moved = np.abs(left.rating - self.rating)[self.order].max(initial=0.0)
        return bool(np.any(together & (left.rating[lower] > left.rating[upper]))), float(moved)


def influence(standing: BoardUnderTest) -> Influence:
    order = standing.order
    movers, largest, looked_at, complete = _one_by_one(standing)
    pairs = itertools.pairwise(order[: PLACES + 1])
    return {
        "movers": movers,
        "largest": round(largest, 2),
        "handovers": [_handover(standing, *pair) for pair in pairs],
        "looked_at": looked_at,
        "complete": complete,
    }


def _one_by_one(standing: BoardUnderTest) -> tuple[list[int], float, int, bool]:
    """Movers, the farthest move, how many voters were left out, and whether those were all who had to be."""
    if not len(standing.pairs) or not len(standing.moved):
        return [], 0.0, 0, True
    left, reach = _left_of_gaps(standing), standing.reach()
    doubt = DOUBT * standing.leverage * reach + 1e-9
    near = np.flatnonzero(np.abs(left) <= doubt)
    nearest_first = near[np.argsort((np.abs(left) / np.maximum(doubt, 1e-12))[near], kind="stable")]
    farthest = np.argsort(-reach, kind="stable")[:FARTHEST]
    looked_at = sorted({*nearest_first[:MOST_REFITS].tolist(), *farthest.tolist()})
    found = {voter: standing.changed(np.array([voter])) for voter in looked_at}
    movers = set(np.flatnonzero(left < 0).tolist()) - found.keys()
    movers |= {voter for voter, (changed, _) in found.items() if changed}
    return sorted(movers), max(moved for _, moved in found.values()), len(looked_at), len(near) <= MOST_REFITS


def _left_of_gaps(standing: BoardUnderTest) -> Floats:
    """(voters,) the smallest gap between two of the order without each voter, to first order [Elo points]."""
    upper, lower = standing.pairs.T
    gap = standing.rating[upper] - standing.rating[lower]
    left = np.full(len(standing.moved), np.inf)
    for one, other, between in zip(upper.tolist(), lower.tolist(), gap.tolist(), strict=True):
        np.minimum(left, between - standing.moved[:, one] + standing.moved[:, other], out=left)
    return left


def _handover(standing: BoardUnderTest, upper: int, lower: int) -> Handover:
    helps = standing.moved[:, upper] - standing.moved[:, lower]
    helpers = np.argsort(-helps, kind="stable")
    needed = _fewest(standing, helpers, upper, lower)
    votes = None if needed is None else int(standing.votes[helpers[:needed]].sum())
    total = int(standing.votes.sum())
    return {
        "upper": standing.names[upper],
        "lower": standing.names[lower],
        "gap": round(float(standing.rating[upper] - standing.rating[lower]), 2),
        "voters": needed,
        "votes": votes,
        "share": round(votes / total, 6) if votes is not None and total else None,
    }


def _fewest(standing: BoardUnderTest, helpers: Integers, upper: int, lower: int) -> int | None:
    """How many of the first helpers must be left out to turn the order; None: more than half of all."""

    def turned(number: int) -> bool:
        if not number:
            return bool(standing.rating[lower] >= standing.rating[upper])
        left = standing.without(helpers[:number])
        return bool(left.group[lower] == left.group[upper] and left.rating[lower] >= left.rating[upper])

    most, high = len(helpers) // 2, 1
    if turned(0):
        return 0
    while high < most and not turned(high):
        high *= 2
    high = min(high, most)
    if not most or not turned(high):
        return None
    low = high // 2 if high > 1 else 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turned(middle) else (middle, high)
    return high
