"""What a policy's card says of how often it succeeds, summed up, with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

Z95 = 1.959963984540054  # 97.5 % quantile of the normal distribution
UNSHIFTED = "table"  # the suite whose scenes are drawn as the training's were


class Success(TypedDict):
    """Successes of the episodes tried; `low` and `high` are the 95 % Wilson interval of `rate`."""

    episodes: int
    successes: int
    rate: float
    low: float
    high: float


def wilson(successes: float, episodes: float) -> tuple[float, float]:
    """95 % score interval of a proportion (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927, p. 209): the p for which
    |p - observed| = z sqrt(p (1 - p) / n). Where they only amount to so many, numbers need not be whole. Raises
    ValueError unless 0 <= successes <= episodes and episodes > 0.
    """
    if not 0 <= successes <= episodes or episodes == 0:
        raise ValueError(f"expected 0 <= successes <= episodes and at least one, got {successes} of {episodes}")
    rate, square = successes / episodes, Z95**2
    centre = rate + square / (2 * episodes)
    spread = Z95 * math.sqrt(rate * (1 - rate) / episodes + square / (4 * episodes**2))
    scale = 1 + square / episodes
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def overall(card: Mapping[str, Any]) -> Success | None:
    """All tasks of the unshifted suite taken together, from a policy.json; None when it was not measured."""
    suite = (card.get("measured") or {}).get(UNSHIFTED)
    tasks = suite.get("tasks", {}) if isinstance(suite, Mapping) else {}
    counts = [(row["episodes"], row["successes"]) for row in tasks.values()]
    episodes, successes = sum(count for count, _ in counts), sum(count for _, count in counts)
    if not episodes:
        return None
    low, high = wilson(successes, episodes)
    rate = successes / episodes
    return {
        "episodes": episodes,
        "successes": successes,
        "rate": round(rate, 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }
