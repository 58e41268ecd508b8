"""The clock of a turn: when the chunks of both sides are shown, and when visitors are told that the turn ended.

It starts a moment after both sides have started, and runs at the fixed pace of the kind: contestants cannot move it.
What visitors see and may do depends on `told`. Operators and admission use `Turn.settled_at`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from arena import kinds
from arena.kinds import Kind
from arena.models import AttemptStatus, Turn

CANCELLED = "cancelled"
SET_BACK = timedelta(seconds=60)
"""A turn that settled further in the future than this did so before the system time was set back."""
SHORTEST = timedelta(microseconds=1)


def buffer() -> timedelta:
    """From the start of the later side to the first chunk that is shown."""
    return timedelta(seconds=settings.RELEASE["buffer_s"])


def longest(kind: Kind) -> timedelta:
    """From the first chunk of a turn to the last one of a side that has as many as it may have."""
    return max(SHORTEST, timedelta(seconds=kind.longest * kind.chunk_s))


def longest_of_any() -> timedelta:
    return max((longest(kind) for kind in kinds.every()), default=SHORTEST)


def told(turn: Turn, now: datetime | None = None) -> bool:
    """Whether visitors know that the turn has settled. A turn without `shown_at` is told when it settles."""
    if turn.settled_at is None:
        return False
    now = now or timezone.now()
    return turn.shown_at is None or turn.shown_at <= now or turn.settled_at > now + SET_BACK


def untold(turns: Iterable[Turn], now: datetime | None = None) -> Turn | None:
    """The turn that has settled without visitors knowing it yet. A battle has one at most."""
    now = now or timezone.now()
    return next((turn for turn in turns if turn.settled_at is not None and not told(turn, now)), None)


def was_cancelled(turn: Turn) -> bool:
    return any(side.termination_reason == CANCELLED for side in turn.attempts.all())


def end_of(turn: Turn, now: datetime) -> datetime:
    """When to tell visitors of the end of a turn whose sides have settled by `now`.

    That is when the longer side's last chunk is shown. A failed turn lasts as long as its instruction allows, or a
    multiple of that, which hides which side failed and when. A cancelled turn ends at once.
    """
    kind, sides = kinds.of(turn), turn.attempts.all()
    if was_cancelled(turn):
        return now
    began = min(turn.release_from or turn.created_at, now + buffer())  # later: the system time was set back since
    if any(side.status == AttemptStatus.FAILED for side in sides):
        lasts = max(SHORTEST, timedelta(seconds=kinds.longest_of(turn) * kind.chunk_s))
        return began + max(1, math.ceil((now - began) / lasts)) * lasts
    return max(now, began + timedelta(seconds=max(side.length for side in sides) * kind.chunk_s))
