"""The reliability of voters, from calibration battles: repeats and gold battles (robots.calibration). No Django.

The share of calibration battles that a voter passes says little: between equal policies an honest voter who judges each
battle anew passes half of the repeats. No voter is flagged for that. But an honest voter, however careless, does not
name the *other* of two policies more often than the same one when the sides are swapped: between equals both are as
likely, and any preference makes the same one likelier. A voter who always names one side does. A bettor who multiplies
2 q for the other and 2 (1 - q) for the same one wins nothing in the long run against an honest voter. With bets spread
over several q > 1/2, the fortune reaches 1 / alpha with a chance of at most alpha, at any time (Ville 1939; see
rankings.trust.outliers).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from rankings.fit.clusters import score_interval
from rankings.tally.counts import MIRRORED, OUTCOMES

ALPHA = 0.001
"""The largest share of honest voters that is ever flagged."""
BETS = (0.75, 0.9, 0.99)
"""The bettors' chances that the other one is named. The side preference of honest voters, half of the log odds, makes
it .56, below the .63 at which the first bet wins."""
EVEN = ("tie", "both_bad")


class CalibrationResult(NamedTuple):
    """Of one voter and battle. `score`: 1 passed, 1/2 half passed, 0 failed. `named`: a repeat in which a winner was
    named both times, the same one where it was passed."""

    score: float
    named: bool = False


@dataclass(frozen=True)
class Reliability:
    """`score` is the sum of items passed (1), half passed (1/2) and failed (0); `low`, `high` its 95 % interval.
    `same` and `other`: how many repeats named the same policy as before, and the other one."""

    items: int
    score: float
    low: float
    high: float
    same: int = 0
    other: int = 0

    @property
    def share(self) -> float:
        return self.score / self.items if self.items else 0.0

    @property
    def unreliable(self) -> bool:
        return self.log10_e >= -math.log10(ALPHA)

    @property
    def log10_e(self) -> float:
        """The bettor's fortune."""
        logs = [self.other * math.log10(2.0 * bet) + self.same * math.log10(2.0 * (1.0 - bet)) for bet in BETS]
        top = max(logs)
        return top + math.log10(sum(10.0 ** (each - top) for each in logs) / len(logs))


def gold(vote: str, right_answer: str) -> CalibrationResult:
    """Passed by naming the side that reached the goal where the other did not."""
    return CalibrationResult(float(vote == right_answer))


def repeat(first: str, again: str) -> CalibrationResult:
    """1 for the same judgement with the sides swapped, 0 for the contrary one, 1/2 where one of the two is even."""
    if again in EVEN or first in EVEN:
        return CalibrationResult(1.0 if again in EVEN and first in EVEN else 0.5)
    return CalibrationResult(float(again == OUTCOMES[MIRRORED[OUTCOMES.index(first)]]), named=True)


class Controls(NamedTuple):
    """Sums over one voter's calibration battles, by the names of `Reliability`."""

    items: int = 0
    score: float = 0.0
    same: int = 0
    other: int = 0

    def plus(self, more: Controls) -> Controls:
        return Controls(
            self.items + more.items, self.score + more.score, self.same + more.same, self.other + more.other
        )

    @classmethod
    def of(cls, item: CalibrationResult) -> Controls:
        same = item.named and item.score == 1.0
        return cls(1, item.score, int(same), int(item.named and not same))

    def reliability(self) -> Reliability:
        """The share passed, with Wilson's interval; halves count as such."""
        items, score, same, other = self
        low, high = score_interval(score / items, items) if items else (0.0, 1.0)
        low, high = low if score else 0.0, high if score < items or not items else 1.0
        return Reliability(items, score, low, high, same, other)


def reliability(items: Iterable[CalibrationResult]) -> Reliability:
    """Of one voter's calibration battles."""
    found = Controls()
    for item in items:
        found = found.plus(Controls.of(item))
    return found.reliability()
