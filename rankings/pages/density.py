"""Geometry of the comparison's figure: the normal density of a rating difference, in the units of its viewBox."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rankings.pages.figures import Tick

WIDTH, TOP, BASE, MARGIN = 360.0, 24.0, 150.0, 14.0
"""Width, height of the peak and of the base, and the room left and right."""
REACH = 3.6
"""Standard deviations drawn on either side."""
POINTS = 60
LABEL = 74.0
"""Room for the words on either side of 0."""
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True)
class Density:
    """Paths: the `curve`, and the areas under it where A or B is better, empty where there is none. Places of 0, the
    mean and the ends of the 95 % interval."""

    curve: str
    a_better: str
    b_better: str
    zero: str
    mean: str
    low: str
    high: str
    ticks: list[Tick]


def density(mean: float, low: float, high: float) -> Density:
    """The density of A's rating minus B's [points], with 95 % interval `low` to `high`."""
    deviation = max((high - low) / 2.0 / 1.96, 0.5)
    first, last = _ends(mean, deviation)

    def x(value: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * (value - first) / (last - first)

    def y(value: float) -> float:
        return BASE - (BASE - TOP) * math.exp(-(((value - mean) / deviation) ** 2) / 2.0)

    begin, end = max(first, mean - REACH * deviation), min(last, mean + REACH * deviation)
    values = [begin + (end - begin) * place / POINTS for place in range(POINTS + 1)]
    above, below = [max(value, 0.0) for value in values], [min(value, 0.0) for value in values]
    return Density(
        curve="M" + _path([(x(value), y(value)) for value in values]),
        a_better=_area([(x(value), y(value)) for value in dict.fromkeys(above)]),
        b_better=_area([(x(value), y(value)) for value in dict.fromkeys(below)]),
        zero=f"{x(0.0):.1f}",
        mean=f"{x(mean):.1f}",
        low=f"{x(max(low, first)):.1f}",
        high=f"{x(min(high, last)):.1f}",
        ticks=_ticks(first, last, x),
    )


def _ends(mean: float, deviation: float) -> tuple[float, float]:
    """The ends of the axis [points], with room for the curve and for the words on either side of 0."""
    first, last = min(mean - REACH * deviation, 0.0), max(mean + REACH * deviation, 0.0)
    for _ in range(2):  # room on one side takes some on the other
        room = LABEL / (WIDTH - 2 * MARGIN) * (last - first) * 1.3
        first, last = min(first, -room), max(last, room)
    return first, last


def _area(points: Sequence[tuple[float, float]]) -> str:
    """Closed along the base."""
    return (
        f"M{points[0][0]:.1f},{BASE:.1f} L{_path(points)} L{points[-1][0]:.1f},{BASE:.1f} Z" if len(points) > 1 else ""
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _ticks(first: float, last: float, x: Callable[[float], float]) -> list[Tick]:
    step = next(step for step in STEPS if (last - first) / step <= 7)
    numbers = range(math.ceil(first / step), math.floor(last / step) + 1)
    return [Tick(f"{x(number * step):.1f}", f"{number * step}".replace("-", "−")) for number in numbers]
