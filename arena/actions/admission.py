"""Admission's writes: one lock for all turns that join the queue, and sending the turns that may go to the workers.

A held turn is sent once earlier turns of its network and its visitor have settled (`arena.queue.admission`). A sweep
sends what a crash left behind.
"""

from __future__ import annotations

import logging

from django.db import transaction
from django.utils import timezone

from arena.errors import QueueUnavailable
from arena.models import AdmissionLock, Attempt, AttemptStatus
from arena.queue import dispatch
from arena.queue.admission import next_turns
from arena.queue.entry import Standing

log = logging.getLogger(__name__)


def join_queue(standing: Standing, turns: int = 1) -> bool:
    """Let so many turns join the queue. Answers whether the first is held because others go before it.

    `standing`: of their session, read before the transaction. Raises TooManyTurns and QueueFull. The queue is locked
    until the transaction ends, and everybody who sends a turn waits for that: take this lock last, and do little under
    it.
    """
    lock = _lock_queue()
    if not standing.catch_up(lock.revision - 1, lock.sent):
        standing = Standing.of(standing.session, standing.caller)
    return not standing.admit(turns)


def send_due() -> None:
    """Send the held turns that may go to the workers now. One query and no lock if there are none.

    Raises QueueUnavailable. A sweep then sends what was not sent.
    """
    if not next_turns():
        return
    with transaction.atomic():
        lock = _lock_queue()  # concurrent calls give no network more than its turn
        sent = _mark_sent(next_turns(), lock)
    if sent:
        dispatch.send(sent)


def send_due_or_leave_to_the_sweep() -> None:
    try:
        send_due()
    except QueueUnavailable:
        log.warning("The queue is down; a later sweep sends the turns that are due")


def _mark_sent(turns: list[int], lock: AdmissionLock) -> list[Attempt]:
    """Note that these turns were sent; answers their attempts, in the order of the turns."""
    lock.sent = [*lock.sent, *([lock.revision, turn] for turn in turns)][-AdmissionLock.NAMED :]
    lock.save(update_fields=["sent"])
    held = Attempt.objects.filter(turn__pk__in=turns, status=AttemptStatus.HELD)
    attempts = list(held.select_related("turn__battle__session").order_by("turn__pk", "side"))
    attempts.sort(key=lambda attempt: turns.index(attempt.turn.pk))
    Attempt.objects.filter(pk__in=[attempt.pk for attempt in attempts]).update(
        status=AttemptStatus.QUEUED, sent_at=timezone.now()
    )
    return attempts


def _lock_queue() -> AdmissionLock:
    """Locks the row by raising its revision: one query."""
    raised = "UPDATE turn_line SET revision = revision + 1 WHERE id = %s RETURNING *"
    rows = list(AdmissionLock.objects.raw(raised, [AdmissionLock.ONLY]))
    if not rows:
        AdmissionLock.objects.bulk_create([AdmissionLock(pk=AdmissionLock.ONLY)], ignore_conflicts=True)
        rows = list(AdmissionLock.objects.raw(raised, [AdmissionLock.ONLY]))
    return rows[0]
