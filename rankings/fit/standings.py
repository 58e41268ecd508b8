"""A contestant's place on a board as the tables keep it. Numbers in, numbers out, no Django."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

from rankings.fit.bradley_terry import Fit, fit
from rankings.fit.elo import START
from rankings.fit.ratings import LISTED, Rating
from rankings.tally.counts import Counts, records, tally

MINIMUM_VOTES = LISTED
"""A contestant with fewer votes is provisional: shown, but without a rank (P-EL-06)."""


@dataclass(frozen=True)
class Standing:
    """One contestant on one board; the fields are named as the columns that keep them."""

    model_id: str
    elo_score: int
    elo_ci: float
    elo_sequential: int
    vote_count: int
    win_count: int
    loss_count: int
    tie_count: int
    both_bad_count: int
    win_rate: float

    @property
    def provisional(self) -> bool:
        return self.vote_count < MINIMUM_VOTES


STATISTICS = tuple(field.name for field in fields(Standing) if field.name != "model_id")
"""The columns of a board's table."""


def standings_of(counts: Counts, found: Fit, sequential: Mapping[str, int]) -> list[Standing]:
    """Every contestant of a fitted board, by name; `sequential` is its classic Elo."""
    record = records(counts)
    return [
        Standing(
            model_id=name,
            elo_score=round(rating),
            elo_ci=round(half_width, 1),
            elo_sequential=sequential[name],
            vote_count=record[name].votes,
            win_count=record[name].wins,
            loss_count=record[name].losses,
            tie_count=record[name].ties,
            both_bad_count=record[name].both_bad,
            win_rate=record[name].win_rate,
        )
        for name, rating, half_width in zip(found.names, found.rating.tolist(), found.half_width.tolist(), strict=True)
    ]


def standing_of(model_id: str, row: Rating, sequential: int) -> Standing:
    """The same from a board's row in a snapshot."""
    return Standing(
        model_id=model_id,
        elo_score=round(row["rating"]),
        elo_ci=round((row["high"] or 0.0) - row["rating"], 1),
        elo_sequential=sequential,
        vote_count=row["votes"],
        win_count=row["wins"],
        loss_count=row["losses"],
        tie_count=row["ties"],
        both_bad_count=row["both_bad"],
        win_rate=row["wins"] / row["votes"],
    )


def unvoted(model_id: str) -> Standing:
    """Where a contestant stands before its first vote: anywhere within the virtual game's reach of the mean."""
    return Standing(model_id, START, _unvoted_half_width(), START, 0, 0, 0, 0, 0, 0.0)


@cache
def _unvoted_half_width() -> float:
    return round(float(fit(tally([], names=["anybody"])).half_width[0]), 1)
