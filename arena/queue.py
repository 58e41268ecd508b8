"""How long a turn has to wait: for visitors who wait calmly when they know.

Nothing here looks at who plays: the wait is that of all turns lately, whichever policies met in them.
"""

from __future__ import annotations

import statistics
from typing import TypedDict

from django.db.models import Min

from arena.models import RolloutStatus, Turn

RECENT_TURNS = 20


class QueueJson(TypedDict):
    """`ahead`: turns that were sent earlier and are not done. `expected_wait_s`: until they are, null when unknown."""

    ahead: int
    expected_wait_s: int | None


def place_in_queue(turn: Turn) -> QueueJson:
    """Where a turn stands; a turn that both sides have started, or that has ended, has nobody ahead."""
    waits = turn.rollouts.filter(status=RolloutStatus.QUEUED).exists()
    ahead = Turn.objects.unsettled().filter(pk__lt=turn.pk).count() if waits else 0
    return {"ahead": ahead, "expected_wait_s": _wait(ahead)}


def _wait(ahead: int) -> int | None:
    if ahead == 0:
        return 0
    seconds = _recent_seconds()
    return round(ahead * statistics.median(seconds)) if seconds else None


def _recent_seconds() -> list[float]:
    """How long the last turns took that both sides completed, from the first start to the end."""
    recent = Turn.objects.completed().annotate(began=Min("rollouts__started_at")).order_by("-settled_at")
    spans = recent.values_list("began", "settled_at")[:RECENT_TURNS]
    return [(settled - began).total_seconds() for began, settled in spans if began is not None]
