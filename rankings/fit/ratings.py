"""One board as `manage.py rate` prints it and a snapshot keeps it. No Django."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from rankings.fit.bradley_terry import PRIOR, Fit, SideAdvantage, fit, side_advantage
from rankings.fit.estimate import TIES
from rankings.tally.counts import Counts, Record, records

LISTED = 5
"""A contestant with fewer votes is on no rank (P-EL-06)."""
CAP = 15
"""What a voter's votes of one day weigh at most together on a board, in votes."""


class Rating(TypedDict):
    """`low` and `high` are the 95 % interval, null where nothing is known. `weight`: how much the contestant counts in
    the mean of its component, which is 1500. `component` is a place in the board's components, from 1; `rank_low` is
    the best rank in it that the votes allow, `rank_high` the worst; null below LISTED votes. Between components there
    is no order, and their ratings cannot be compared.

    `provisional`: the thresholds are not met yet. `flags` say why a figure is shaky: `few_votes` (below LISTED),
    `no_upper_bound` (somebody comparable never scored against it, even through others), `no_lower_bound` (it never
    scored against somebody). Rates are fractions of all its votes.
    """

    rating: float
    low: float | None
    high: float | None
    weight: float
    votes: int
    wins: int
    losses: int
    ties: int
    both_bad: int
    win_rate: float
    tie_rate: float
    both_bad_rate: float
    opponents: int
    component: int
    rank_low: int | None
    rank_high: int | None
    provisional: bool
    flags: list[str]


class SidePoints(TypedDict):
    """What standing on the left is worth, in Elo points."""

    elo: float
    low: float
    high: float


class Ratings(TypedDict):
    """`components`: names that can be compared with each other, the group with most votes first; between components
    there is no order."""

    models: dict[str, Rating]
    components: list[list[str]]
    side_advantage: SidePoints | None


class Summary(TypedDict):
    """Of a board. Rates are fractions of its votes; `voters` counts known ones."""

    votes: int
    voters: int
    tie_rate: float
    both_bad_rate: float


@dataclass(frozen=True)
class Thresholds:
    """When a contestant is no longer provisional: all three at once.

    On a board with fewer than `opponents` others, all of them are enough.
    """

    half_width: float = 60.0
    votes: int = 30
    opponents: int = 3

    def met(self, half_width: float, votes: int, opponents: int, others: int) -> bool:
        return half_width < self.half_width and votes >= self.votes and opponents >= min(self.opponents, others)


@dataclass(frozen=True)
class Options:
    """`prior`: virtual games per contestant (0: none). `cap`: what a voter's votes of one day weigh at most together
    (0: no limit). `cluster`: take the votes of one voter together. `ties`: one of `estimate.TIES`."""

    prior: float = PRIOR
    cap: int = CAP
    cluster: bool = True
    ties: str = "half"
    thresholds: Thresholds = Thresholds()

    @classmethod
    def of(cls, rules: Mapping[str, float]) -> Options:
        """From the settings: `cap`, and `half_width`, `votes` and `opponents` until which a contestant is
        provisional."""
        thresholds = Thresholds(rules["half_width"], int(rules["votes"]), int(rules["opponents"]))
        return cls(cap=int(rules["cap"]), thresholds=thresholds)

    @property
    def by_voter(self) -> bool:
        """Whether it matters who cast which votes."""
        return self.cluster or self.cap > 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.prior) and self.prior >= 0):
            raise ValueError(f"prior {self.prior} games; expected a number from 0")
        if self.cap < 0:
            raise ValueError(f"cap {self.cap} votes; expected a whole number from 0, where 0 means no limit")
        if self.ties not in TIES:
            raise ValueError(f"ties {self.ties!r}; expected one of {', '.join(TIES)}")


def board_ratings(counts: Counts, options: Options, found: Fit | None = None) -> Ratings:
    """Rate the contestants of `counts`; figures are rounded to a hundredth of a point, models sorted by name.

    `found`: what `fitted` made of the same counts and options, where that is at hand.
    """
    found = found or fitted(counts, options)
    components = components_of(counts, found)
    return {
        "models": _models(counts, found, options.thresholds, components),
        "components": components,
        "side_advantage": _side(side_advantage(counts, cap=options.cap, near=found)),
    }


def summary(counts: Counts) -> Summary:
    total, outcomes = counts.total, counts.by_outcome.tolist()
    return {
        "votes": total,
        "voters": counts.voters,
        "tie_rate": _share(outcomes[2], total),
        "both_bad_rate": _share(outcomes[3], total),
    }


def fitted(counts: Counts, options: Options) -> Fit:
    return fit(counts, prior=options.prior, cap=options.cap, cluster=options.cluster, ties=options.ties)


def components_of(counts: Counts, found: Fit) -> list[list[str]]:
    """The names that can be compared with each other, each group sorted; the group with most votes first."""
    votes = dict(zip(counts.names, counts.per_policy().sum(axis=1).tolist(), strict=True))
    return sorted(found.components(), key=lambda names: (-sum(votes[name] for name in names), -len(names), names))


def _models(
    counts: Counts, found: Fit, thresholds: Thresholds, components: Sequence[Sequence[str]]
) -> dict[str, Rating]:
    record, opponents = records(counts), counts.opponents().tolist()
    listed = np.array([record[name].votes >= LISTED for name in found.names], dtype=bool)
    best, worst = found.rank_ranges(listed)
    component = {name: number for number, names in enumerate(components, 1) for name in names}
    models: dict[str, Rating] = {}
    for place, name in enumerate(found.names):
        own, met = record[name], opponents[place]
        settled = thresholds.met(float(found.half_width[place]), own.votes, met, len(found.names) - 1)
        models[name] = {
            "rating": _rounded(found.rating[place]),
            "low": _finite(found.rating[place] - found.half_width[place]),
            "high": _finite(found.rating[place] + found.half_width[place]),
            "weight": round(float(found.weight[place]), 4),
            "votes": own.votes,
            "wins": own.wins,
            "losses": own.losses,
            "ties": own.ties,
            "both_bad": own.both_bad,
            "win_rate": round(own.win_rate, 4),
            "tie_rate": _share(own.ties, own.votes),
            "both_bad_rate": _share(own.both_bad, own.votes),
            "opponents": met,
            "component": component[name],
            "rank_low": int(best[place]) if listed[place] else None,
            "rank_high": int(worst[place]) if listed[place] else None,
            "provisional": not (settled and listed[place]),
            "flags": _flags(found, place, own),
        }
    return models


def _flags(found: Fit, place: int, own: Record) -> list[str]:
    flags = {
        "few_votes": own.votes < LISTED,
        "no_upper_bound": found.no_upper_bound[place],
        "no_lower_bound": found.no_lower_bound[place],
    }
    return [flag for flag, is_set in flags.items() if is_set]


def _side(found: SideAdvantage | None) -> SidePoints | None:
    if found is None:
        return None
    return {
        "elo": _rounded(found.elo),
        "low": _rounded(found.elo - found.half_width),
        "high": _rounded(found.elo + found.half_width),
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _rounded(value: float) -> float:
    return round(float(value), 2) + 0.0  # no minus zero


def _finite(value: float) -> float | None:
    return _rounded(value) if math.isfinite(value) else None
