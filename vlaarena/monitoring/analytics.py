"""What operators want to know about the last days of a kind: votes, pairs, latency, failures, cost.

An operator may vote too. Figures that distinguish models (times, failures, cost) therefore cover only past hours, and
battles whose names are known.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, date, timedelta
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone
from typing_extensions import TypedDict

from arena.kinds import Kind
from arena.live.release import CANCELLED
from arena.models import Attempt, AttemptStatus, Battle, Contestant, Vote, VoteChoice, names_known

MOST_DAYS = 366
MOST_ATTEMPTS = 100_000
"""The latest ones of the span that are read for latencies."""


class DayRow(TypedDict):
    """`battles`: opened that day. `counted`: of the votes, those in the ranking."""

    day: str
    battles: int
    votes: int
    counted: int
    left_better: int
    right_better: int
    tie: int
    both_bad: int


class PairRow(TypedDict):
    """`one` and `other`: model_ids in order. All votes, those that do not count included."""

    one: str
    other: str
    votes: int
    one_better: int
    other_better: int
    tie: int
    both_bad: int


class ModelRow(TypedDict):
    """Of attempts in battles whose names are known. `failures`: reason -> how many. `more`: figures of its kind."""

    model_id: str
    name: str
    attempts: int
    failed: int
    failures: dict[str, int]
    median_ms: float | None
    p95_ms: float | None
    more: dict[str, float | None]


class Analytics(TypedDict):
    """`hidden_failures`: reason -> how many failed in battles whose names are not known."""

    kind: str
    since: str
    days: int
    by_day: list[DayRow]
    pairs: list[PairRow]
    models: list[ModelRow]
    hidden_failures: dict[str, int]


def analytics(kind: Kind, days: int) -> Analytics:
    """Of the last days (UTC), today included. ValueError for a span that is none."""
    if not 1 <= days <= MOST_DAYS:
        raise ValueError(f"days={days}; expected 1 to {MOST_DAYS}")
    first = timezone.now().astimezone(UTC).date() - timedelta(days=days - 1)
    votes = Vote.objects.filter(kind=kind.id, voted_at__date__gte=first)
    attempts = _settled(kind, first)
    known = names_known("turn__battle__")
    hidden = attempts.filter(~known, status=AttemptStatus.FAILED).order_by().values_list("termination_reason")
    return {
        "kind": kind.id,
        "since": first.isoformat(),
        "days": days,
        "by_day": _by_day(kind, votes, first, days),
        "pairs": _pairs(votes),
        "models": _models(kind, attempts.filter(known)),
        "hidden_failures": dict(hidden.annotate(Count("pk"))),
    }


def _by_day(kind: Kind, votes: QuerySet[Vote], first: date, days: int) -> list[DayRow]:
    opened = Battle.objects.filter(session__kind=kind.id, created_at__date__gte=first)
    battles: dict[date, int] = dict(_per_day(opened, "created_at"))
    counted: dict[date, int] = dict(_per_day(votes.filter(counted_vote__counted=True), "voted_at"))
    cast: dict[date, Counter[str]] = defaultdict(Counter)
    for day, vote, number in _per_day(votes, "voted_at", "vote"):
        cast[day][vote] = number
    return [
        _day_row(day, battles.get(day, 0), cast[day], counted.get(day, 0))
        for day in (first + timedelta(days=number) for number in range(days))
    ]


def _per_day(rows: QuerySet[Any], moment: str, *more: str) -> Iterator[tuple[Any, ...]]:
    """(day, further columns, number of rows) of each day."""
    dated = rows.order_by().annotate(day=TruncDate(moment, tzinfo=UTC)).values("day", *more)
    yield from dated.annotate(number=Count("pk")).values_list("day", *more, "number")


def _day_row(day: date, battles: int, cast: Counter[str], counted: int) -> DayRow:
    return {
        "day": day.isoformat(),
        "battles": battles,
        "votes": cast.total(),
        "counted": counted,
        "left_better": cast[VoteChoice.LEFT_BETTER],
        "right_better": cast[VoteChoice.RIGHT_BETTER],
        "tie": cast[VoteChoice.TIE],
        "both_bad": cast[VoteChoice.BOTH_BAD],
    }


def _pairs(votes: QuerySet[Vote]) -> list[PairRow]:
    """Those with most votes first."""
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    sides = votes.order_by().values_list("left_model_id", "right_model_id", "vote").annotate(Count("pk"))
    swapped = {"left_better": "right_better", "right_better": "left_better"}
    for left, right, vote, number in sides:
        one, other = sorted((left, right))
        found[one, other][vote if one == left else swapped.get(vote, vote)] += number
    rows = [_pair_row(*pair, cast) for pair, cast in found.items()]
    return sorted(rows, key=lambda row: (-row["votes"], row["one"], row["other"]))


def _pair_row(one: str, other: str, cast: Counter[str]) -> PairRow:
    return {
        "one": one,
        "other": other,
        "votes": cast.total(),
        "one_better": cast["left_better"],
        "other_better": cast["right_better"],
        "tie": cast["tie"],
        "both_bad": cast["both_bad"],
    }


def _settled(kind: Kind, first: date) -> QuerySet[Attempt]:
    """Those that settled before this hour. Cancelled turns say nothing about anybody."""
    until = timezone.now().replace(minute=0, second=0, microsecond=0)
    settled = Attempt.objects.filter(model__kind=kind.id, finished_at__date__gte=first, finished_at__lt=until)
    return settled.exclude(status=AttemptStatus.FAILED, termination_reason=CANCELLED)


def _models(kind: Kind, attempts: QuerySet[Attempt]) -> list[ModelRow]:
    """Those with most attempts first."""
    took: dict[str, list[float]] = defaultdict(list)
    failures: dict[str, Counter[str]] = defaultdict(Counter)
    columns = ("model_id", "status", "termination_reason", "duration_ms")
    for model_id, status, reason, duration in attempts.order_by("-finished_at").values_list(*columns)[:MOST_ATTEMPTS]:
        if status == AttemptStatus.COMPLETED:
            took[model_id].append(duration or 0.0)
        elif status == AttemptStatus.FAILED:
            failures[model_id][reason] += 1
    names = Contestant.objects.in_bulk({*took, *failures})
    more = kind.spent(attempts)
    rows = [
        _model_row(model_id, contestant.name, took[model_id], failures[model_id], more.get(model_id, {}))
        for model_id, contestant in names.items()
    ]
    return sorted(rows, key=lambda row: (-row["attempts"], row["model_id"]))


def _model_row(
    model_id: str, name: str, took: Sequence[float], failures: Counter[str], more: dict[str, float | None]
) -> ModelRow:
    return {
        "model_id": model_id,
        "name": name,
        "attempts": len(took) + failures.total(),
        "failed": failures.total(),
        "failures": dict(failures.most_common()),
        "median_ms": round(float(np.median(took)), 1) if took else None,
        "p95_ms": round(float(np.percentile(took, 95)), 1) if took else None,
        "more": more,
    }
