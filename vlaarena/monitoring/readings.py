"""The arena's state for /metrics and the status page, read from the database by a few bounded queries on indexes.

An operator may vote too. Figures that distinguish policies (names, times) therefore cover only past hours and battles
whose names are known; current figures are sums over all policies.

The state of workers comes from the rows that they write, so that no worker has to be reachable from here.
"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from arena.live.release import CANCELLED
from arena.models import (
    Attempt,
    AttemptStatus,
    Contestant,
    ContestantStatus,
    Hosting,
    ProcessingStatus,
    Turn,
    Vote,
    names_known,
)
from policies.models import Policy
from rankings.models import Finding, WorkerStatus
from rankings.publication import checking
from rankings.votes import locking

RECENT = timedelta(minutes=15)
MOST_RECENT = 2000
"""At most this many of the newest rollouts are read."""
FAILURES_SHOWN = 20
FAILURES_DAYS = 7
NEVER = "never run"
COMPLETED = "completed"
PHASES = ("wait", "render", "infer", "physics", "store", "total")
"""`wait`: from the turn's opening to the first start; `total`: playing, without waiting and storing."""


class Backlog(NamedTuple):
    """Unsettled rollouts of all policies. `oldest_s`: how long the oldest queued one has waited [s]."""

    queued: int
    running: int
    oldest_s: float


@dataclass(frozen=True)
class LiveWorker:
    """A live worker. `plays`: the policies that it can play; `troubles`: policy -> why it cannot be played."""

    name: str
    device: str
    silent_s: float
    plays: tuple[str, ...]
    troubles: dict[str, str]


@dataclass(frozen=True)
class SettledRollout:
    """A settled rollout. `seconds`: known phases -> seconds. `reason`: why it failed, or ""."""

    policy: str
    reason: str
    seconds: dict[str, float]


@dataclass(frozen=True)
class Failure:
    """A failed rollout. While its battle's names are hidden, `rollout` is None and only the turn is shown."""

    at: datetime
    turn: Turn
    rollout: Attempt | None


@dataclass(frozen=True)
class Speed:
    """One policy's p50 and p95 [s] of inference and of whole rollouts, in past hours."""

    policy: str
    rollouts: int
    failures: int
    infer: tuple[float, float]
    total: tuple[float, float]


class Job(NamedTuple):
    """A periodic job. `at`: when it last succeeded, None if never. `status`: "ok" or what is wrong."""

    at: datetime | None = None
    age_s: float | None = None
    status: str = NEVER
    error: str = ""


class Boards(NamedTuple):
    """The jobs that publish and check the boards, unprocessed votes, and open findings by kind."""

    aggregation: Job
    check: Job
    pending: int
    failed: int
    findings: dict[str, int]


class Disk(NamedTuple):
    """The data folder's file system, in bytes."""

    total: int
    used: int
    free: int


def queue() -> Backlog:
    unsettled = (AttemptStatus.QUEUED, AttemptStatus.RUNNING)
    rows = Attempt.objects.filter(status__in=unsettled).order_by().values_list("status")
    found = {status: (count, since) for status, count, since in rows.annotate(Count("pk"), Min("created_at"))}
    now = timezone.now()
    queued, since = found.get(AttemptStatus.QUEUED, (0, now))
    running, _ = found.get(AttemptStatus.RUNNING, (0, now))
    return Backlog(queued, running, max(0.0, (now - since).total_seconds()))


def workers() -> list[LiveWorker]:
    now, found = timezone.now(), []
    for name, rows in groupby(Hosting.objects.live().order_by("worker", "contestant_id"), lambda row: row.worker):
        own = list(rows)
        silent_s = max(0.0, (now - max(row.seen_at for row in own)).total_seconds())
        plays = tuple(row.contestant_id for row in own if not row.trouble)
        troubles = {row.contestant_id: row.trouble for row in own if row.trouble}
        found.append(LiveWorker(name, own[0].device, silent_s, plays, troubles))
    return found


def contestants() -> list[str]:
    """The policies that may be drawn, and therefore should be playable."""
    return list(Policy.objects.contestants().order_by("id").values_list("id", flat=True))


def policies_by_status() -> dict[str, int]:
    rows = Policy.objects.filter(reference=False).order_by().values_list("status")
    return dict.fromkeys(ContestantStatus.values, 0) | dict(rows.annotate(Count("pk")))


def unavailable() -> list[Contestant]:
    """Contestants that would be drawn if something of theirs worked, by kind: each says what does not."""
    rows = Contestant.objects.filter(status=ContestantStatus.UNAVAILABLE)
    return list(rows.only("kind", "name", "status_reason").order_by("kind", "name"))


def settled_lately() -> Counter[str]:
    """Outcome ("completed" or the reason of the failure) -> number of rollouts that settled recently.

    Rollouts of cancelled turns are ignored.
    """
    settled = _not_cancelled().filter(finished_at__gte=timezone.now() - RECENT).order_by()
    found: Counter[str] = Counter()
    for status, reason, number in settled.values_list("status", "termination_reason").annotate(Count("pk")):
        found[reason if status == AttemptStatus.FAILED else COMPLETED] += number
    return found


def played(hours: int = 1) -> list[SettledRollout]:
    """The newest rollouts, at most MOST_RECENT, of voted or spoiled battles that settled in the last whole hours."""
    until = timezone.now().replace(minute=0, second=0, microsecond=0)
    columns = ("model_id", "status", "termination_reason", "created_at", "started_at")
    times = (*(f"rollout__{phase}_ms" for phase in ("render", "infer", "physics", "store")), "duration_ms")
    known = _not_cancelled().filter(names_known("turn__battle__")).order_by("-finished_at")
    settled = known.filter(finished_at__gte=until - timedelta(hours=hours), finished_at__lt=until)
    found = []
    for policy, status, reason, created, started, *spent in settled.values_list(*columns, *times)[:MOST_RECENT]:
        seconds = {phase: value / 1e3 for phase, value in zip(PHASES[1:], spent, strict=True) if value is not None}
        if started is not None:
            seconds["wait"] = max(0.0, (started - created).total_seconds())
        found.append(SettledRollout(policy, reason if status == AttemptStatus.FAILED else "", seconds))
    return found


def _not_cancelled() -> QuerySet[Attempt]:
    return Attempt.objects.exclude(status=AttemptStatus.FAILED, termination_reason=CANCELLED)


def speeds(played: Iterable[SettledRollout]) -> list[Speed]:
    """One entry per policy, the slowest first."""
    by_policy: dict[str, list[SettledRollout]] = defaultdict(list)
    for each in played:
        by_policy[each.policy].append(each)
    found = []
    for policy, own in by_policy.items():
        failures = sum(bool(each.reason) for each in own)
        found.append(Speed(policy, len(own), failures, _p50_p95(own, "infer"), _p50_p95(own, "total")))
    return sorted(found, key=lambda speed: (-speed.infer[1], -speed.total[1], speed.policy))


def _p50_p95(played: Iterable[SettledRollout], phase: str) -> tuple[float, float]:
    """By nearest rank; (0, 0) without values."""
    values = sorted(each.seconds[phase] for each in played if phase in each.seconds)
    if not values:
        return 0.0, 0.0
    middle, high = (values[min(len(values) - 1, round(share * (len(values) - 1)))] for share in (0.5, 0.95))
    return middle, high


def outcomes(played: Iterable[SettledRollout]) -> Counter[tuple[str, str]]:
    """(policy, "completed" or the reason of the failure) -> number of rollouts."""
    return Counter((each.policy, each.reason or COMPLETED) for each in played)


def failures() -> list[Failure]:
    """The last failed rollouts; one entry per turn where the battle's names are hidden."""
    since = timezone.now() - timedelta(days=FAILURES_DAYS)
    failed = _not_cancelled().filter(status=AttemptStatus.FAILED, finished_at__gte=since)
    found: dict[str, Failure] = {}
    for rollout in failed.select_related("turn__battle").order_by("-finished_at")[: 2 * FAILURES_SHOWN]:
        turn = rollout.turn
        if turn.battle.names_known:
            found[rollout.episode_id] = Failure(rollout.finished_at or turn.created_at, turn, rollout)
        else:
            found.setdefault(turn.turn_id, Failure(turn.created_at, turn, None))
    return list(found.values())[:FAILURES_SHOWN]


def boards() -> Boards:
    rows = WorkerStatus.objects.in_bulk([locking.WORKER, checking.WORKER], field_name="worker_name")
    run, check = rows.get(locking.WORKER), rows.get(checking.WORKER)
    waiting = Vote.objects.filter(processing_status__in=[ProcessingStatus.PENDING, ProcessingStatus.FAILED]).order_by()
    findings = Finding.objects.filter(state=Finding.State.OPEN).order_by()
    counts = dict(waiting.values_list("processing_status").annotate(Count("pk")))
    return Boards(
        aggregation=_job(run, run.published_at) if run else Job(),
        check=_job(check, check.last_run_at) if check else Job(),
        pending=counts.get(ProcessingStatus.PENDING, 0),
        failed=counts.get(ProcessingStatus.FAILED, 0),
        findings=dict(findings.values_list("kind").annotate(Count("pk"))),
    )


def _job(row: WorkerStatus, at: datetime | None) -> Job:
    age_s = (timezone.now() - at).total_seconds() if at else None
    return Job(at, age_s, row.status or NEVER, row.error_message or "")


def disk() -> Disk:
    return Disk(*shutil.disk_usage(settings.DATA_DIR if settings.DATA_DIR.exists() else "/"))
