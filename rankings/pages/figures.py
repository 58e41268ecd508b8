"""Geometry of the figures, in the units of their viewBox. Templates only place the marks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rankings.analysis.calibration import Bin
from rankings.publication.report import Point

WIDTH, HEIGHT = 720.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 160.0, 14.0, 28.0
"""Room around the plot: numbers on the left, names on the right, days below."""
LINES = 8
"""The number of policies drawn, the best ones. The style sheet has a dash pattern for each."""
LABEL_GAP = 17.0
SQUARE = 320.0
MARGIN = 44.0


@dataclass(frozen=True)
class Tick:
    at: str
    text: str


@dataclass(frozen=True)
class TrendLine:
    """One policy over time: the `points` of its polyline, the end of that, and the height of its label."""

    name: str
    number: int
    points: str
    end_x: str
    end_y: str
    label_y: str
    first: int
    last: int


@dataclass(frozen=True)
class Trend:
    lines: list[TrendLine]
    ratings: list[Tick]
    days: list[Tick]


def trend(points: Sequence[Point], names: Mapping[str, str]) -> Trend | None:
    """The best LINES of `names` (id -> name) over the publications; None with fewer than two of these."""
    moments = [datetime.fromisoformat(point["at"]) for point in points]
    known = [name for name in names if any(name in point["ratings"] for point in points)]
    if len(points) < 2 or not known or moments[-1] <= moments[0]:
        return None
    best = sorted(known, key=lambda name: -_latest(points, name))[:LINES]
    ratings = [point["ratings"][name][0] for point in points for name in best if name in point["ratings"]]
    low, high = _nice(min(ratings), max(ratings))
    span = (moments[-1] - moments[0]).total_seconds()

    def x(moment: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (moment - moments[0]).total_seconds() / span

    def y(rating: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - rating) / (high - low)

    ends = _spread([y(_latest(points, name)) for name in best])
    lines = []
    for number, (name, label) in enumerate(zip(best, ends, strict=True)):
        own = [
            (x(moment), y(point["ratings"][name][0]), point["ratings"][name][0])
            for moment, point in zip(moments, points, strict=True)
            if name in point["ratings"]
        ]
        drawn = " ".join(f"{_n(at)},{_n(height)}" for at, height, _ in own)
        first, last = round(own[0][2]), round(own[-1][2])
        lines.append(TrendLine(names[name], number, drawn, _n(own[-1][0]), _n(own[-1][1]), _n(label), first, last))
    step = _step(high - low)
    marks = [low + step * place for place in range(round((high - low) / step) + 1)]
    return Trend(lines, [Tick(_n(y(mark)), f"{mark:.0f}") for mark in marks], _days(moments[0], moments[-1]))


def _latest(points: Sequence[Point], name: str) -> float:
    return next((point["ratings"][name][0] for point in reversed(points) if name in point["ratings"]), 0.0)


def _days(first: datetime, last: datetime) -> list[Tick]:
    """Both ends: days, or hours where both lie on one day."""
    form = "%H:%M" if first.date() == last.date() else "%d %b"
    return [Tick(_n(LEFT), f"{first:{form}}"), Tick(_n(WIDTH - RIGHT), f"{last:{form}}")]


def _spread(heights: list[float]) -> list[float]:
    """Heights of labels, at least LABEL_GAP apart and as near to the ends of their lines as possible."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    placed = list(heights)
    for before, place in itertools.pairwise(order):
        placed[place] = max(placed[place], placed[before] + LABEL_GAP)
    over = placed[order[-1]] - (HEIGHT - BOTTOM) if order else 0.0
    if over > 0:
        placed[order[-1]] -= over
        for after, place in itertools.pairwise(reversed(order)):
            placed[place] = min(placed[place], placed[after] - LABEL_GAP)
    return placed


def _nice(low: float, high: float) -> tuple[float, float]:
    step = _step(max(high - low, 40.0))
    bottom = math.floor((low - 5) / step) * step
    top = math.ceil((high + 5) / step) * step
    return bottom, max(top, bottom + step)


def _step(span: float) -> float:
    return next(step for step in (10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 10**6) if span / step <= 6)


@dataclass(frozen=True)
class Mark:
    """A calibration bin: a vertical bar for its interval, a dot for its mean, whose area grows with the votes."""

    x: str
    y: str
    low_y: str
    high_y: str
    radius: str
    bin: Bin


def calibration_marks(bins: Sequence[Bin]) -> list[Mark]:
    """The axes start at 0.5 and 0.4; what lies below stands on the edge."""
    most = max((each["votes"] for each in bins), default=1)
    return [
        Mark(
            _n(_along(each["predicted"])),
            _n(_up(each["actual"])),
            _n(_up(each["actual_low"])),
            _n(_up(each["actual_high"])),
            _n(3.0 + 6.0 * math.sqrt(each["votes"] / most)),
            each,
        )
        for each in bins
    ]


def shares() -> list[tuple[str, Tick, Tick]]:
    """(text, place on the horizontal axis, place on the vertical axis) of the ticks of both axes."""
    return [
        (f"{round(100 * value)} %", Tick(_n(_along(value)), ""), Tick(_n(_up(value)), ""))
        for value in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    ]


def _along(share: float) -> float:
    return MARGIN + (SQUARE - MARGIN - 12) * (min(max(share, 0.5), 1.0) - 0.5) * 2


def _up(share: float) -> float:
    return SQUARE - MARGIN - (SQUARE - MARGIN - 12) * (min(max(share, 0.4), 1.0) - 0.4) / 0.6


def heat(rate: float | None) -> str:
    """The CSS class of a cell: 0 (always lost) to 10 (always won); "none" without a vote."""
    return "none" if rate is None else str(round(10 * rate))


def _n(value: float) -> str:
    """A coordinate with a decimal point, whatever the language."""
    return f"{value:.1f}"
