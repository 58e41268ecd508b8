"""The latest publication, for pages and calls. One query finds which publication is current, and its contestants.

A publication never changes, so each process reads it once and keeps it until the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple, cast

from django.db.models import QuerySet, Subquery

from arena.kinds import Kind
from arena.models import Contestant
from rankings.fit.ratings import Rating
from rankings.fit.standings import STATISTICS, Standing, standing_of
from rankings.models import ModelStatsByRobot, ModelStatsTotal, Snapshot, WorkerStatus
from rankings.publication.report import ReportContent, latest
from rankings.tally.table import GLOBAL, Board
from rankings.votes import classic
from rankings.votes.locking import WORKER

KEPT = 2
"""Publications of a kind in memory: the current one, and the one before for requests that still use it."""


@dataclass(frozen=True)
class Published:
    """Empty before the first publication."""

    at: datetime | None
    snapshot: Snapshot | None
    content: ReportContent | None
    standings: Mapping[str, list[Standing]]
    """By a board's name; a board without a vote is not in it."""

    def board(self, name: str) -> Mapping[str, Any]:
        """As the snapshot has it; empty where there is none."""
        return cast("Mapping[str, Any]", self.snapshot.boards.get(name, {})) if self.snapshot else {}

    def components(self, name: str, listed: Collection[str]) -> dict[str, int]:
        """Policy -> the number of its component among those listed; 1 has most votes."""
        groups = [[member for member in group if member in listed] for group in self.board(name).get("components", [])]
        return {member: number for number, group in enumerate(filter(None, groups), 1) for member in group}

    def rows(self, name: str) -> Mapping[str, Rating]:
        return cast("Mapping[str, Rating]", self.board(name).get("models", {}))


class Current(NamedTuple):
    """The contestants of a kind, without references, and what is published of it."""

    kind: Kind
    policies: list[Contestant]
    published: Published

    @property
    def names(self) -> dict[str, str]:
        return {policy.pk: policy.name for policy in self.policies}


def current(kind: Kind) -> Current:
    """One query, except for the first time after a publication."""
    moment = _moment()
    listed = kind.contestants().filter(reference=False)
    policies: list[Any] = list(listed.annotate(published_at=Subquery(moment)))  # the one row with that name
    at = policies[0].published_at if policies else moment.first()
    return Current(kind, policies, _published_at(kind, at))


def published(kind: Kind) -> Published:
    """For those who need no contestants. One query, except for the first time after a publication."""
    return _published_at(kind, _moment().first())


def _moment() -> QuerySet[WorkerStatus, datetime | None]:
    return WorkerStatus.objects.filter(worker_name=WORKER).values_list("published_at", flat=True)


def _published_at(kind: Kind, at: datetime | None) -> Published:
    return _kept(kind)(at) if at else _read(kind, None)


@cache
def _kept(kind: Kind) -> Callable[[datetime], Published]:
    return lru_cache(KEPT)(partial(_read, kind))


def _read(kind: Kind, at: datetime | None) -> Published:
    report = latest(kind)
    snapshot = report.snapshot if report else None
    content = cast(ReportContent, report.content) if report else None
    return Published(at, snapshot, content, {**_from_snapshot(kind, snapshot), **_from_tables(kind)})


def _from_tables(kind: Kind) -> dict[str, list[Standing]]:
    totals, by_setting = (table.objects.filter(model__kind=kind.id) for table in (ModelStatsTotal, ModelStatsByRobot))
    found = {GLOBAL: [Standing(**row) for row in totals.values("model_id", *STATISTICS)]}
    for row in by_setting.values("robot_id", "model_id", *STATISTICS):
        found.setdefault(Board(setting=row.pop("robot_id")).name, []).append(Standing(**row))
    return found


def _from_snapshot(kind: Kind, snapshot: Snapshot | None) -> dict[str, list[Standing]]:
    """Every board, since boards of scenes and tasks have no table of their own."""
    if snapshot is None:
        return {}
    sequential = classic.ratings(kind)
    return {
        board: [standing_of(name, row, sequential[board][name]) for name, row in content["models"].items()]
        for board, content in snapshot.boards.items()
    }
