"""The line of turns: one lock for all who join it and for what leaves it, and the turns that go to the workers next.

A turn whose attempts are held goes to the workers when
earlier turns of its network and its visitor have settled (`arena.queue.admission`). A sweep sends what a crash left
behind.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from arena.errors import QueueUnavailable
from arena.models import AdmissionLock, Attempt, AttemptStatus, Session, row_or_none
from arena.queue import dispatch
from arena.queue.admission import admit, next_turns
from arena.visitors.networks import CallerDigests

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Admission:
    """In the line. `held`: others go first. `caller`: whose address it came from."""

    held: bool
    caller: CallerDigests


def join_queue(session: Session, caller: CallerDigests, turns: int = 1) -> Admission:
    """Let so many turns of this session join the line; raises TooManyTurns and QueueFull. The place is the first one's.

    It locks the line until the transaction ends. Everybody who sends a turn waits for that, so it is the last lock that
    a transaction takes, and little is left to do under it.
    """
    _lock_line()
    return Admission(held=not admit(session, caller, turns), caller=caller)


def send_due() -> None:
    """Send the held turns that may go to the workers now. One query, and no lock, where there are none.

    Raises QueueUnavailable; then a sweep sends what was not sent.
    """
    if not next_turns():
        return
    with transaction.atomic():
        _lock_line()  # however many look at once, no network gets more than its turn
        sent = _mark(next_turns())
    if sent:
        dispatch.send(sent)


def send_due_or_leave_to_the_sweep() -> None:
    try:
        send_due()
    except QueueUnavailable:
        log.warning("The queue is down; a later sweep sends what waits")


def _mark(turns: list[int]) -> list[Attempt]:
    """Note that these turns were sent; answers their attempts, in the order of the turns."""
    held = Attempt.objects.filter(turn__pk__in=turns, status=AttemptStatus.HELD)
    attempts = list(held.select_related("turn__battle__session").order_by("turn__pk", "side"))
    attempts.sort(key=lambda attempt: turns.index(attempt.turn.pk))
    Attempt.objects.filter(pk__in=[attempt.pk for attempt in attempts]).update(
        status=AttemptStatus.QUEUED, sent_at=timezone.now()
    )
    return attempts


def _lock_line() -> None:
    line = AdmissionLock.objects.select_for_update().filter(pk=AdmissionLock.ONLY)
    if row_or_none(line) is None:
        AdmissionLock.objects.bulk_create([AdmissionLock(pk=AdmissionLock.ONLY)], ignore_conflicts=True)
        line.get()
