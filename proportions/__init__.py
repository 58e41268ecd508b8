"""Success rates with their intervals, for policies and rankings, which do not import each other."""

from __future__ import annotations

import math
from typing import TypedDict

Z95 = 1.959963984540054
"""97.5 % quantile of the normal distribution."""


class Success(TypedDict):
    """Successes of the episodes tried; `low` and `high` are the 95 % Wilson interval of `rate`."""

    episodes: int
    successes: int
    rate: float
    low: float
    high: float


def wilson(successes: float, episodes: float) -> tuple[float, float]:
    """95 % score interval of a proportion (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927, p. 209): the p for which
    |p - observed| = z sqrt(p (1 - p) / n). Weighted counts need not be whole. Raises ValueError unless
    0 <= successes <= episodes and episodes > 0.
    """
    if not 0 <= successes <= episodes or episodes == 0:
        raise ValueError(f"expected 0 <= successes <= episodes and at least one, got {successes} of {episodes}")
    rate, square = successes / episodes, Z95**2
    centre = rate + square / (2 * episodes)
    spread = Z95 * math.sqrt(rate * (1 - rate) / episodes + square / (4 * episodes**2))
    scale = 1 + square / episodes
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def success_rate(successes: int, episodes: int) -> Success:
    """The rate and its interval, rounded to four places. Raises ValueError as `wilson` does."""
    low, high = (round(end, 4) for end in wilson(successes, episodes))
    rate = round(successes / episodes, 4)
    return {"episodes": episodes, "successes": successes, "rate": rate, "low": low, "high": high}
