"""Positions of the marks on the leaderboard's interval bars: percentages as text, with a decimal point for SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rankings.api.shapes import RankingRow
from rankings.publication.report import Exposure

MEAN = 1500.0
MARGIN = 15.0
"""Room left and right of the outermost marks [Elo points]."""


@dataclass(frozen=True)
class MarkedRow:
    """A row of the board and its bar: `low`, `middle` and `high` of the interval, and the `mean` of all ratings [%].

    `ranks`: best and worst rank that the votes leave open, empty where there is one or none. `exposure` is None before
    the first publication.
    """

    row: RankingRow
    low: str
    middle: str
    high: str
    mean: str
    win_percent: int
    half_width: int
    ranks: str
    one_sided: bool
    size: str
    exposure: Exposure | None
    partial: str
    address: str | None


def with_marks(
    rows: Sequence[RankingRow],
    exposure: Mapping[str, Exposure],
    partial: Mapping[str, str],
    address: Callable[[str], str | None],
) -> list[MarkedRow]:
    """All bars share one scale, from the lowest to the highest end of an interval; it always includes the mean."""
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
            ranks="" if row["rank_low"] == row["rank_high"] else f"{row['rank_low']}–{row['rank_high']}",
            one_sided=bool({"no_upper_bound", "no_lower_bound"} & set(row["flags"])),
            size=_size(row.get("parameters")),
            exposure=exposure.get(row["model_id"]),
            partial=partial.get(row["model_id"], ""),
            address=address(row["model_id"]),
        )
        for row in rows
    ]


def _size(parameters: int | None) -> str:
    """The number of parameters as 1.2 M or 7.5 B."""
    if parameters is None:
        return ""
    for unit, name in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if parameters >= unit:
            return f"{parameters / unit:.1f}".removesuffix(".0") + f" {name}"
    return str(parameters)
