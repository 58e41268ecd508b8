"""Marks of WormArena's small charts, in the units of their SVG, as text with a decimal point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

MARGIN = 15.0
"""Beside the outermost marks [Elo points]."""
WIDTH, HEIGHT = 640.0, 150.0
PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM = 62.0, 10.0, 10.0, 26.0
MOST_DAYS = 60


@dataclass(frozen=True)
class Interval:
    """Places on a line from 0 % to 100 %; `low` and `high` reach its ends where nothing bounds them."""

    low: str
    middle: str
    high: str


def intervals(rows: Sequence[tuple[float, float | None, float | None]]) -> list[Interval]:
    """Of (rating, low, high), all on one scale."""
    ends = [end for row in rows for end in row if end is not None]
    first, last = (min(ends) - MARGIN, max(ends) + MARGIN) if ends else (0.0, 1.0)

    def place(value: float | None, otherwise: float) -> str:
        return f"{100 * ((otherwise if value is None else value) - first) / (last - first):.2f}%"

    return [Interval(place(low, first), place(middle, first), place(high, last)) for middle, low, high in rows]


def shares(parts: Sequence[tuple[str, Any, int]]) -> list[dict[str, Any]]:
    """Segments of a bar of width 100: (class, text, number) -> where each begins and how wide it is."""
    total, at, found = sum(number for _, _, number in parts), 0.0, []
    for name, text, number in parts:
        width = 100 * number / total if total else 0.0
        found.append(
            {
                "name": name,
                "text": text,
                "number": number,
                "percent": round(width),
                "x": f"{at:.2f}",
                "width": f"{width:.2f}",
            }
        )
        at += width
    return found


def by_day(days: Sequence[tuple[date, float, str]]) -> dict[str, Any] | None:
    """A bar per day with games, of the last MOST_DAYS such days: (day, value, text). None without a value."""
    shown = days[-MOST_DAYS:]
    most = max((value for _, value, _ in shown), default=0.0)
    if most <= 0:
        return None
    step = (WIDTH - PAD_LEFT - PAD_RIGHT) / len(shown)
    tall = HEIGHT - PAD_TOP - PAD_BOTTOM
    bars = []
    for number, (day, value, text) in enumerate(shown):
        height = tall * value / most
        bars.append(
            {
                "x": f"{PAD_LEFT + step * number + step * 0.1:.1f}",
                "width": f"{min(step * 0.8, 60):.1f}",
                "y": f"{PAD_TOP + tall - height:.1f}",
                "height": f"{height:.1f}",
                "day": day,
                "text": text,
            }
        )
    return {"bars": bars, "base": f"{PAD_TOP + tall:.1f}", "most": most, "first": shown[0][0], "last": shown[-1][0]}
