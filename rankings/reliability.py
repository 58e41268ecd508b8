"""How far a voter can be relied on, from repeated and gold battles (arena.controls). No Django."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rankings.counts import MIRRORED, OUTCOMES

Z = 1.959963984540054
LEAST_ITEMS = 4
"""Fewer controls say nothing."""
LINE = 0.6
"""A voter whose reliability lies below this with all of its 95 % interval is flagged. Voting at random scores about a
third on gold and a half on repeats."""
EVEN = ("tie", "both_bad")


@dataclass(frozen=True)
class Reliability:
    """`score` is the sum of items passed (1), half passed (1/2) and failed (0); `low`, `high` its 95 % interval."""

    items: int
    score: float
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.score / self.items if self.items else 0.0

    @property
    def unreliable(self) -> bool:
        return self.items >= LEAST_ITEMS and self.high < LINE


def gold_score(vote: str, right_answer: str) -> float:
    """1 for naming the side that reached the goal where the other did not."""
    return float(vote == right_answer)


def repeat_score(first: str, again: str) -> float:
    """1 for the same judgement with the sides swapped, 0 for the contrary one, 1/2 where one of the two is even."""
    expected = OUTCOMES[MIRRORED[OUTCOMES.index(first)]]
    if again == expected or (again in EVEN and first in EVEN):
        return 1.0
    return 0.5 if again in EVEN or first in EVEN else 0.0


def reliability(scores: Iterable[float]) -> Reliability:
    """The share passed, with Wilson's interval; halves count as such."""
    given = list(scores)
    items, total = len(given), sum(given)
    if not items:
        return Reliability(0, 0.0, 0.0, 1.0)
    rate, square = total / items, Z * Z
    centre = rate + square / (2 * items)
    spread = Z * math.sqrt(rate * (1 - rate) / items + square / (4 * items**2))
    scale = 1 + square / items
    low, high = (centre - spread) / scale, (centre + spread) / scale
    return Reliability(items, total, max(0.0, low) if total else 0.0, min(1.0, high) if total < items else 1.0)
