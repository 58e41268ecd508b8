"""The line of turns: one lock for all who join it, and the next turn of a visitor whose last one is done.

A turn whose rollouts are queued and were never sent (`heartbeat_at` is null) is held: it goes to the workers when
earlier turns of its visitor have settled. A sweep sends what a crash left behind.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Q
from django.utils import timezone

from arena import dispatch
from arena.errors import QueueUnavailable
from arena.models import Rollout, RolloutStatus, Session, TurnLine, row_or_none
from arena.queue import admit, may_go, unsettled

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """In the line. `held`: earlier turns of the visitor go first. `caller`: whose address it came from."""

    held: bool
    caller: str


def join_line(session: Session, caller: str) -> Place:
    """Let a turn of this session join the line; raises TooManyTurns and QueueFull.

    It locks the line until the transaction ends. Everybody who sends a turn waits for that, so it is the last lock that
    a transaction takes, and little is left to do under it.
    """
    _lock_line()
    return Place(held=not admit(session, caller), caller=caller)


def send_next(session: Session) -> None:
    """Send the first held turn of this session's visitor, if few enough of the visitor's turns are with the workers.

    Whoever marks it as sent sends it, however many try. Raises QueueUnavailable; then a sweep sends it again.
    """
    whose = Q(turn__session__user_id=session.user_id) if session.user_id else Q(turn__session=session)
    rows = Rollout.objects.filter(whose, turn__settled_at=None).order_by("turn__pk")
    turns = [list(rollouts) for _, rollouts in groupby(rows, lambda rollout: rollout.turn_id)]
    held = [rollouts for rollouts in turns if all(rollout.held for rollout in rollouts)]
    if held and may_go(len(turns) - len(held)):
        _send(held[0])


def send_next_or_leave_to_the_sweep(session: Session) -> None:
    try:
        send_next(session)
    except QueueUnavailable:
        log.warning("The queue is down; a later sweep sends what %s has waiting", session)


def send_left_behind() -> None:
    """Send the next turn of every visitor who has held ones and none with the workers."""
    line = unsettled()
    served = {each.visitor for each in line if each.sent}
    waiting = {each.visitor for each in line} - served
    sessions = Session.objects.filter(Q(user_id__in=waiting) | Q(session_id__in=waiting), turns__settled_at=None)
    for session in sessions.distinct() if waiting else ():
        send_next_or_leave_to_the_sweep(session)


def _send(rollouts: list[Rollout]) -> None:
    waiting = Rollout.objects.filter(pk__in=[rollout.pk for rollout in rollouts], status=RolloutStatus.QUEUED)
    if waiting.filter(heartbeat_at=None).update(heartbeat_at=timezone.now()):
        dispatch.play({rollout.episode_id: str(rollout.model_id) for rollout in rollouts})


def _lock_line() -> None:
    line = TurnLine.objects.select_for_update().filter(pk=TurnLine.ONLY)
    if row_or_none(line) is None:
        TurnLine.objects.bulk_create([TurnLine(pk=TurnLine.ONLY)], ignore_conflicts=True)
        line.get()
