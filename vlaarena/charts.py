"""Where the marks of the leaderboard's interval bars stand: percentages as text, since SVG wants a decimal point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankings.shapes import RankingRow

MEAN = 1500.0
MARGIN = 15.0
"""Room left and right of the outermost marks [Elo points]."""


@dataclass(frozen=True)
class MarkedRow:
    """A row of the board and its bar: `low`, `middle` and `high` of the interval, and the `mean` of all ratings [%]."""

    row: RankingRow
    low: str
    middle: str
    high: str
    mean: str
    win_percent: int
    half_width: int


def with_marks(rows: Sequence[RankingRow]) -> list[MarkedRow]:
    """All bars share one scale, from the lowest lower to the highest upper end; it always holds the mean."""
    ends = [end for row in rows for end in (row["elo_low"], row["elo_high"])]
    low, high = min([MEAN, *ends]) - MARGIN, max([MEAN, *ends]) + MARGIN

    def place(rating: float) -> str:
        return f"{100 * (rating - low) / (high - low):.2f}%"

    return [
        MarkedRow(
            row=row,
            low=place(row["elo_low"]),
            middle=place(row["elo_score"]),
            high=place(row["elo_high"]),
            mean=place(MEAN),
            win_percent=round(100 * row["win_rate"]),
            half_width=round(row["elo_ci"]),
        )
        for row in rows
    ]
