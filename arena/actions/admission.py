"""Admission's writes: one lock for all turns that join the queue, and sending the turns that may go to the workers.

A held turn is sent once earlier turns of its network and its visitor have settled (`arena.queue.admission`). A sweep
sends what a crash left behind.
"""

from __future__ import annotations

import logging

from django.db import transaction
from django.utils import timezone

from arena.errors import QueueUnavailable
from arena.models import AdmissionLock, Attempt, AttemptStatus, Session, row_or_none
from arena.queue import dispatch
from arena.queue.admission import admit, next_turns
from arena.visitors.networks import CallerDigests

log = logging.getLogger(__name__)


def join_queue(session: Session, caller: CallerDigests, turns: int = 1) -> bool:
    """Let so many turns of this session join the queue. Answers whether the first is held because others go before it.

    Raises TooManyTurns and QueueFull. The queue is locked until the transaction ends, and everybody who sends a turn
    waits for that: take this lock last, and do little under it.
    """
    _lock_queue()
    return not admit(session, caller, turns)


def send_due() -> None:
    """Send the held turns that may go to the workers now. One query and no lock if there are none.

    Raises QueueUnavailable. A sweep then sends what was not sent.
    """
    if not next_turns():
        return
    with transaction.atomic():
        _lock_queue()  # concurrent calls give no network more than its turn
        sent = _mark_sent(next_turns())
    if sent:
        dispatch.send(sent)


def send_due_or_leave_to_the_sweep() -> None:
    try:
        send_due()
    except QueueUnavailable:
        log.warning("The queue is down; a later sweep sends the turns that are due")


def _mark_sent(turns: list[int]) -> list[Attempt]:
    """Note that these turns were sent; answers their attempts, in the order of the turns."""
    held = Attempt.objects.filter(turn__pk__in=turns, status=AttemptStatus.HELD)
    attempts = list(held.select_related("turn__battle__session").order_by("turn__pk", "side"))
    attempts.sort(key=lambda attempt: turns.index(attempt.turn.pk))
    Attempt.objects.filter(pk__in=[attempt.pk for attempt in attempts]).update(
        status=AttemptStatus.QUEUED, sent_at=timezone.now()
    )
    return attempts


def _lock_queue() -> None:
    lock = AdmissionLock.objects.select_for_update().filter(pk=AdmissionLock.ONLY)
    if row_or_none(lock) is None:
        AdmissionLock.objects.bulk_create([AdmissionLock(pk=AdmissionLock.ONLY)], ignore_conflicts=True)
        lock.get()
