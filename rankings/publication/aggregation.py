"""From votes to boards, all or nothing: a run that is killed has changed nothing.

Counts change as votes are cast (`votes.ledger`). A run reads one moment of the database without a lock, checks the
pending votes, and fits every board. Then it takes the lock and stores all of it in one transaction, if the counts have
the revision that it read; votes cast since then are for the next run. If there was another publication, or a moderator
changed a past count, it begins again, and the last time it holds the lock throughout. Its cost depends on pairs and
voters, not on votes.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from arena.consistent_read import consistent_read
from arena.errors import ArenaError
from arena.models import ProcessingStatus, Vote
from rankings.models import WorkerStatus
from rankings.publication import preparation
from rankings.publication.preparation import Prepared
from rankings.votes import judging, ledger
from rankings.votes.judging import BATCH, Judgement
from rankings.votes.locking import WORKER, lock_rankings

log = logging.getLogger(__name__)

TRIES = 3
"""How often a run begins before it holds the lock from the start."""
PUBLISHED = "Published: waited %.0f ms for the lock, held it %.0f ms, worked %.0f ms of them"
"""Where it held the lock much longer than it worked, it waited for the processor or the disk."""


@dataclass(frozen=True)
class RunReport:
    """What one run did."""

    votes_processed: int
    votes_failed: int
    rows_changed: int


class PublishedAlready(ArenaError):
    """Boards that changed with every vote would reveal it (decision: counts-and-publication)."""

    status, code = 409, "published_already"

    def __init__(self, next_at: datetime) -> None:
        super().__init__(
            f"This hour's boards are published. The next are due at {next_at:%H:%M} UTC.", next_at=next_at.isoformat()
        )


def aggregate(*, once_an_hour: bool = False) -> RunReport:
    """Take the pending votes into the boards. Safe to repeat, and to run twice at once: one of the two begins again.

    `once_an_hour`: raises PublishedAlready where the boards were written in this hour of the clock (UTC).
    """
    return _run(Q(processing_status=ProcessingStatus.PENDING), once_an_hour=once_an_hour)


def rebuild() -> RunReport:
    """Check and count every raw vote again, processed and failed ones included, and write the boards again."""
    return _run(Q(), anew=True)


def worker_status() -> WorkerStatus | None:
    return WorkerStatus.objects.filter(worker_name=WORKER).first()


def published_at() -> datetime | None:
    """When the boards were last written; failed runs do not write them."""
    status = worker_status()
    return status.published_at if status else None


class _Read(NamedTuple):
    """What a run read and fitted, and the `revision` of the counts it read."""

    revision: int
    judgement: Judgement
    prepared: Prepared


def _run(which: Q, *, anew: bool = False, once_an_hour: bool = False) -> RunReport:
    votes = Vote.objects.filter(which)
    try:
        for _ in range(0 if anew else TRIES):
            read = _read(votes, once_an_hour=once_an_hour)
            if read is None:
                break
            if report := _swap(read, once_an_hour=once_an_hour):
                return report
        return _run_under_lock(votes, anew=anew, once_an_hour=once_an_hour)
    except PublishedAlready:
        raise
    except Exception as error:  # the reason must reach moderators before the task fails
        WorkerStatus.objects.update_or_create(
            worker_name=WORKER,
            defaults={
                "last_run_at": timezone.now(),
                "status": "failed",
                "votes_processed": 0,
                "error_message": f"{type(error).__name__}: {error}"[:1000],
            },
        )
        raise


def _read(votes: QuerySet[Vote], *, once_an_hour: bool) -> _Read | None:
    """None if counts must be put right first, which needs the lock."""
    with consistent_read():
        status = worker_status() or WorkerStatus()
        _refuse_twice_an_hour(status, once_an_hour)
        judgement = judging.judge(votes)
        if not ledger.is_settled(votes, judgement):
            return None
        return _Read(status.revision, judgement, preparation.prepare(judgement.processed))


def _swap(read: _Read, *, once_an_hour: bool) -> RunReport | None:
    """Store what was read and fitted; None, and nothing stored, if the counts have another revision by now."""
    asked = time.perf_counter()
    with transaction.atomic():
        status = lock_rankings()
        locked, used = time.perf_counter(), time.thread_time()
        _refuse_twice_an_hour(status, once_an_hour)
        if status.revision != read.revision:
            return None
        judging.mark(read.judgement)
        report = _store(status, read.judgement, read.prepared)
    held = time.perf_counter() - locked, time.thread_time() - used
    log.info(PUBLISHED, 1e3 * (locked - asked), *(1e3 * seconds for seconds in held))
    return report


def _run_under_lock(votes: QuerySet[Vote], *, anew: bool, once_an_hour: bool) -> RunReport:
    """Put the counts right and publish, while votes wait. `anew`: count every vote again."""
    with transaction.atomic():
        status = lock_rankings()
        _refuse_twice_an_hour(status, once_an_hour)
        judgement = judging.judge(votes)
        judging.mark(judgement)
        if anew:
            ledger.forget_counts()
        for first in range(0, len(judgement.processed), BATCH):
            ledger.count_votes(Vote.objects.filter(pk__in=judgement.processed[first : first + BATCH]))
        ledger.uncount_votes(judgement.failed.keys())
        return _store(status, judgement, preparation.prepare(judgement.processed))


def _refuse_twice_an_hour(status: WorkerStatus, once_an_hour: bool) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    if once_an_hour and status.published_at is not None and status.published_at >= hour:
        raise PublishedAlready(hour + timedelta(hours=1))


def _store(status: WorkerStatus, judgement: Judgement, prepared: Prepared) -> RunReport:
    """The caller holds the lock."""
    report = RunReport(len(judgement.processed), len(judgement.failed), preparation.store(prepared))
    _note(status, report)
    return report


def _note(status: WorkerStatus, report: RunReport) -> None:
    status.last_run_at = status.published_at = timezone.now()
    status.status = "ok"
    status.votes_processed = report.votes_processed
    judged = report.votes_processed + report.votes_failed
    status.error_message = (
        f"{report.votes_failed} of {judged} votes failed; each says why" if report.votes_failed else None
    )
    status.revision = F("revision") + 1
    status.save()
