"""How things stand, read from rows: for /metrics and the status page. A few bounded queries each, on indexes.

Whoever reads this may be a voter too. What tells policies apart (names, times) is therefore told of hours that are over
alone, and of battles that nobody can vote on blindly any more; how things stand now is told in sums over all policies.

What workers do is read here too, from what they write anyway: so nothing has to reach them, on whatever host they are.
"""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from arena.live.release import CANCELLED
from arena.models import (
    Attempt,
    AttemptStatus,
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
"""So many rollouts are looked at, the newest."""
FAILURES_SHOWN = 20
FAILURES_DAYS = 7
NEVER = "never run"
COMPLETED = "completed"
PHASES = ("wait", "render", "infer", "physics", "store", "total")
"""`wait`: from the turn's opening to the first start; `total`: of playing, without waiting and storing."""


@dataclass(frozen=True)
class Backlog:
    """Unsettled rollouts of all policies; `oldest_s` is since when the longest waiting one is queued."""

    queued: int = 0
    running: int = 0
    oldest_s: float = 0.0


@dataclass(frozen=True)
class LiveWorker:
    """A live worker: what it plays, and what it says it cannot (policy -> why)."""

    name: str
    device: str
    silent_s: float
    plays: tuple[str, ...]
    troubles: dict[str, str]


@dataclass(frozen=True)
class SettledRollout:
    """A settled rollout. `seconds`: phase -> seconds, of those known. `reason`: why it failed; "" if it did not."""

    policy: str
    reason: str
    seconds: dict[str, float]


@dataclass(frozen=True)
class Failure:
    """A rollout that failed; of a battle whose names are hidden, its turn: `known` is False, and it names no side."""

    known: bool
    at: datetime
    turn: Turn
    rollout: Attempt | None


@dataclass(frozen=True)
class Speed:
    """Of one policy, in hours that are over: p50 and p95 [s] of inference and of a whole rollout."""

    policy: str
    rollouts: int
    failures: int
    infer: tuple[float, float]
    total: tuple[float, float]


@dataclass(frozen=True)
class Boards:
    """Boards and what guards them. Ages [s] are None of what has never been; a `status` is "ok" or says what is not."""

    published_at: datetime | None
    age_s: float | None
    status: str
    error: str
    pending: int
    failed: int
    checked_at: datetime | None
    check_age_s: float | None
    check_status: str
    check_error: str
    findings: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Disk:
    """Of the data folder's file system, in bytes."""

    folder: str
    free: int
    total: int


def queue() -> Backlog:
    unsettled = (AttemptStatus.QUEUED, AttemptStatus.RUNNING)
    rows = Attempt.objects.filter(status__in=unsettled).order_by().values_list("status")
    found = {status: (count, since) for status, count, since in rows.annotate(Count("pk"), Min("created_at"))}
    now = timezone.now()
    queued, since = found.get(AttemptStatus.QUEUED, (0, now))
    running, _ = found.get(AttemptStatus.RUNNING, (0, now))
    return Backlog(queued, running, max(0.0, (now - since).total_seconds()))


def workers() -> list[LiveWorker]:
    now = timezone.now()
    rows: dict[str, list[Hosting]] = defaultdict(list)
    for row in Hosting.objects.live().order_by("worker", "contestant_id"):
        rows[row.worker].append(row)
    return [
        LiveWorker(
            name=name,
            device=own[0].device,
            silent_s=max(0.0, (now - max(row.seen_at for row in own)).total_seconds()),
            plays=tuple(row.contestant_id for row in own if not row.trouble),
            troubles={row.contestant_id: row.trouble for row in own if row.trouble},
        )
        for name, own in rows.items()
    ]


def contestants() -> list[str]:
    """Policies that should be playable: those that may be drawn."""
    return list(Policy.objects.contestants().order_by("id").values_list("id", flat=True))


def policies_by_status() -> dict[str, int]:
    rows = Policy.objects.filter(reference=False).order_by().values_list("status")
    return dict.fromkeys(ContestantStatus.values, 0) | dict(rows.annotate(Count("pk")))


def settled_lately(within: timedelta = RECENT) -> Counter[str]:
    """Of all rollouts that settled within this time: "completed" or why they failed -> how many.

    Without those of cancelled turns, which are as if they had not been.
    """
    settled = _not_cancelled().filter(finished_at__gte=timezone.now() - within).order_by()
    found: Counter[str] = Counter()
    for status, reason, number in settled.values_list("status", "termination_reason").annotate(Count("pk")):
        found[reason if status == AttemptStatus.FAILED else COMPLETED] += number
    return found


def played(hours: int = 1) -> list[SettledRollout]:
    """The rollouts of voted (or spoiled) battles that settled in the last whole hours, MOST_RECENT at most."""
    until = timezone.now().replace(minute=0, second=0, microsecond=0)
    columns = ("model_id", "status", "termination_reason", "created_at", "started_at")
    times = (*(f"rollout__{phase}_ms" for phase in ("render", "infer", "physics", "store")), "duration_ms")
    known = _not_cancelled().filter(names_known("turn__battle__"))
    settled = known.filter(finished_at__gte=until - timedelta(hours=hours), finished_at__lt=until).order_by(
        "-finished_at"
    )
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
    """By policy, the slowest first."""
    by_policy: dict[str, list[SettledRollout]] = defaultdict(list)
    for each in played:
        by_policy[each.policy].append(each)
    found = [
        Speed(
            policy=policy,
            rollouts=len(own),
            failures=sum(bool(each.reason) for each in own),
            infer=_p50_p95(own, "infer"),
            total=_p50_p95(own, "total"),
        )
        for policy, own in by_policy.items()
    ]
    return sorted(found, key=lambda speed: (-speed.infer[1], -speed.total[1], speed.policy))


def _p50_p95(played: Iterable[SettledRollout], phase: str) -> tuple[float, float]:
    """By nearest rank; (0, 0) of nothing."""
    values = sorted(each.seconds[phase] for each in played if phase in each.seconds)
    if not values:
        return 0.0, 0.0
    middle, high = (values[min(len(values) - 1, round(share * (len(values) - 1)))] for share in (0.5, 0.95))
    return middle, high


def outcomes(played: Iterable[SettledRollout]) -> Counter[tuple[str, str]]:
    """(policy, "completed" or why it failed) -> how many."""
    return Counter((each.policy, each.reason or COMPLETED) for each in played)


def failures() -> list[Failure]:
    """The last rollouts that failed; of battles whose names are hidden, the last turns."""
    since = timezone.now() - timedelta(days=FAILURES_DAYS)
    failed = _not_cancelled().filter(status=AttemptStatus.FAILED, finished_at__gte=since)
    found: dict[str, Failure] = {}
    for rollout in failed.select_related("turn__battle").order_by("-finished_at")[: 2 * FAILURES_SHOWN]:
        turn, known = rollout.turn, rollout.turn.battle.names_known
        if known:
            found[rollout.episode_id] = Failure(True, rollout.finished_at or turn.created_at, turn, rollout)
        elif turn.turn_id not in found:
            found[turn.turn_id] = Failure(False, turn.created_at, turn, None)
    return list(found.values())[:FAILURES_SHOWN]


def boards() -> Boards:
    now = timezone.now()
    told = WorkerStatus.objects.filter(worker_name__in=[locking.WORKER, checking.WORKER])
    rows = {row.worker_name: row for row in told}
    run, check = rows.get(locking.WORKER), rows.get(checking.WORKER)
    waiting = Vote.objects.filter(processing_status__in=[ProcessingStatus.PENDING, ProcessingStatus.FAILED]).order_by()
    findings = Finding.objects.filter(state=Finding.State.OPEN).order_by()
    counts = dict(waiting.values_list("processing_status").annotate(Count("pk")))
    published, checked = (run.published_at if run else None), (check.last_run_at if check else None)
    return Boards(
        published_at=published,
        age_s=(now - published).total_seconds() if published else None,
        status=run.status if run and run.status else NEVER,
        error=(run.error_message or "") if run else "",
        pending=counts.get(ProcessingStatus.PENDING, 0),
        failed=counts.get(ProcessingStatus.FAILED, 0),
        checked_at=checked,
        check_age_s=(now - checked).total_seconds() if checked else None,
        check_status=check.status if check and check.status else NEVER,
        check_error=(check.error_message or "") if check else "",
        findings=dict(findings.values_list("kind").annotate(Count("pk"))),
    )


def disk() -> Disk:
    usage = shutil.disk_usage(settings.DATA_DIR if settings.DATA_DIR.exists() else "/")
    return Disk(str(settings.DATA_DIR), usage.free, usage.total)
