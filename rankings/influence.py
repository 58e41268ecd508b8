"""Whose removal would change the top three? No Django.

Leaving voter v out moves the ratings by about H^-1 g_v, g_v being the sum of the gradients of v's votes (the
infinitesimal jackknife): cheap for all voters at once, but short of the truth for who cast much of all. So it only says
in which order to look; what is reported was fitted again without the voters in question. How few must go for two
neighbours to change places is found by taking those who help the upper one most (T. Broderick, R. Giordano, R. Meager,
An automatic finite-sample robustness metric, 2020; for arenas: Huang et al., arXiv 2508.11847).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from rankings.counts import Floats, Integers
from rankings.graph import Booleans

PLACES = 3
LOOKED_AT = 20
"""How many voters are left out one at a time: those whom the first order calls the most influential."""


class Handover(TypedDict):
    """What it takes for `lower` to overtake `upper`: so many `voters` with so many `votes`, a `share` of all; nulls
    where even half of all voters would not do."""

    upper: str
    lower: str
    gap: float
    voters: int | None
    votes: int | None
    share: float | None


class Influence(TypedDict):
    """`movers`: voters (by number) without whom, each alone, the top three would be others or in another order.
    `largest`: the farthest that any one voter moves a ranked policy [Elo points]."""

    movers: list[int]
    largest: float
    handovers: list[Handover]


@dataclass(frozen=True)
class Standing:
    """`rating` (k,) Elo points; `ranked` (k,) who has a rank; `moved` (voters, k) what each voter adds to each rating,
    to first order; `votes` (voters,) how many each cast; `without` fits again without some voters: rating (k,)."""

    names: Sequence[str]
    rating: Floats
    ranked: Booleans
    moved: Floats
    votes: Integers
    without: Callable[[Integers], Floats]

    @property
    def order(self) -> list[int]:
        """Places of the ranked policies, best first."""
        return [place for place in np.argsort(-self.rating, kind="stable").tolist() if self.ranked[place]]


def influence(standing: Standing) -> Influence:
    order = standing.order
    if not order:
        return {"movers": [], "largest": 0.0, "handovers": []}
    movers, largest = _one_by_one(standing, order)
    pairs = itertools.pairwise(order[: PLACES + 1])
    return {"movers": movers, "largest": largest, "handovers": [_handover(standing, *pair) for pair in pairs]}


def _one_by_one(standing: Standing, order: list[int]) -> tuple[list[int], float]:
    reach = np.abs(standing.moved[:, order]).max(axis=1, initial=0.0)
    movers, largest = [], 0.0
    for voter in np.argsort(-reach, kind="stable")[:LOOKED_AT].tolist():
        rating = standing.without(np.array([voter]))
        largest = max(largest, float(np.abs(rating - standing.rating)[order].max()))
        fresh = sorted(order, key=lambda place: -rating[place])
        if fresh[:PLACES] != order[:PLACES]:
            movers.append(voter)
    return sorted(movers), round(largest, 2)


def _handover(standing: Standing, upper: int, lower: int) -> Handover:
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


def _fewest(standing: Standing, helpers: Integers, upper: int, lower: int) -> int | None:
    """How many of the helpers, the first ones first, must go until the order turns; None: more than half of all."""

    def turned(number: int) -> bool:
        rating = standing.without(helpers[:number]) if number else standing.rating
        return bool(rating[lower] >= rating[upper])

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
