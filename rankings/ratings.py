"""Ratings of a list of votes in the words that `manage.py rate` prints. No Django."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from rankings.boards import MINIMUM_VOTES
from rankings.bradley_terry import PRIOR, SideAdvantage, fit, side_advantage
from rankings.counts import Ballot, records, tally


class Rating(TypedDict):
    """`low` and `high` are the 95 % interval, null where nothing is known. `rank_low` is the best rank that the votes
    allow, `rank_high` the worst; null for a provisional policy. Between components no order is supposed.

    `flags` say why a figure is shaky: `few_votes`, `no_upper_bound` (somebody comparable never scored against it, even
    through others), `no_lower_bound` (it never scored against somebody).
    """

    rating: float
    low: float | None
    high: float | None
    votes: int
    wins: int
    losses: int
    ties: int
    both_bad: int
    win_rate: float
    rank_low: int | None
    rank_high: int | None
    provisional: bool
    flags: list[str]


class Side(TypedDict):
    """What standing on the left is worth, in Elo points."""

    elo: float
    low: float
    high: float


class Ratings(TypedDict):
    """`components`: names that can be compared with each other; between components there is no order."""

    models: dict[str, Rating]
    components: list[list[str]]
    side_advantage: Side | None


@dataclass(frozen=True)
class Options:
    """`prior`: virtual games per policy (0: none). `cap`: what a voter's votes weigh at most together (0: no limit).
    `cluster`: take the votes of one voter together."""

    prior: float = PRIOR
    cap: int = 0
    cluster: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.prior) and self.prior >= 0):
            raise ValueError(f"prior {self.prior} games; expected a number from 0")
        if self.cap < 0:
            raise ValueError(f"cap {self.cap} votes; expected a whole number from 0, where 0 means no limit")


def ratings(ballots: Iterable[Ballot], options: Options) -> Ratings:
    """Rate what was voted on; figures are rounded to a hundredth of a point, models sorted by name."""
    counts = tally(ballots)
    found = fit(counts, prior=options.prior, cap=options.cap, cluster=options.cluster)
    record = records(counts)
    ranked = np.array([record[name].votes >= MINIMUM_VOTES for name in found.names], dtype=bool)
    best, worst = found.rank_ranges(ranked)
    models: dict[str, Rating] = {}
    for place, name in enumerate(found.names):
        own, provisional = record[name], not ranked[place]
        bounds = {"no_upper_bound": found.no_upper_bound[place], "no_lower_bound": found.no_lower_bound[place]}
        models[name] = {
            "rating": _rounded(found.rating[place]),
            "low": _finite(found.rating[place] - found.half_width[place]),
            "high": _finite(found.rating[place] + found.half_width[place]),
            "votes": own.votes,
            "wins": own.wins,
            "losses": own.losses,
            "ties": own.ties,
            "both_bad": own.both_bad,
            "win_rate": round(own.win_rate, 4),
            "rank_low": None if provisional else int(best[place]),
            "rank_high": None if provisional else int(worst[place]),
            "provisional": provisional,
            "flags": ["few_votes"] * provisional + [flag for flag, is_set in bounds.items() if is_set],
        }
    side = _side(side_advantage(counts, cap=options.cap))
    return {"models": models, "components": found.components(), "side_advantage": side}


def _side(found: SideAdvantage | None) -> Side | None:
    if found is None:
        return None
    return {
        "elo": _rounded(found.elo),
        "low": _rounded(found.elo - found.half_width),
        "high": _rounded(found.elo + found.half_width),
    }


def _rounded(value: float) -> float:
    return round(float(value), 2) + 0.0  # no minus zero


def _finite(value: float) -> float | None:
    return _rounded(value) if math.isfinite(value) else None
