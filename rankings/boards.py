"""A policy's place on a board as the tables keep it. Numbers in, numbers out, no Django."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rankings.bradley_terry import Fit, fit
from rankings.counts import Ballot, Counts, records, tally
from rankings.elo import START, sequential_elo
from rankings.ratings import CAP, LISTED

MINIMUM_VOTES = LISTED
"""A policy with fewer votes is provisional: shown, but without a rank (P-EL-06)."""


@dataclass(frozen=True)
class Standing:
    """One policy on one board; the fields are named as the columns that keep them."""

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


def standings(ballots: Sequence[Ballot]) -> list[Standing]:
    """Every policy with a vote, by name. `ballots` must come in the order they were cast, for the classic Elo."""
    counts = tally(ballots)
    return standings_of(counts, fit(counts, cap=CAP), sequential_elo(ballots))


def standings_of(counts: Counts, found: Fit, sequential: Mapping[str, int]) -> list[Standing]:
    """Every policy of a fitted board, by name; `sequential` is its classic Elo."""
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


def unvoted(model_id: str) -> Standing:
    """Where a policy stands before its first vote: anywhere within the virtual game's reach of the mean."""
    return Standing(model_id, START, _unvoted_half_width(), START, 0, 0, 0, 0, 0, 0.0)


@cache
def _unvoted_half_width() -> float:
    return round(float(fit(tally([], names=["anybody"])).half_width[0]), 1)
