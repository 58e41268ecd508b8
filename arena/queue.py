"""The line of turns: who may join it, and how long it takes, for visitors who wait calmly when they know.

A visitor has so many turns with the workers at once (`settings.QUEUE["at_once"]`), and the others wait as rows
(`arena.actions.line`), so that visitors take turns by themselves (decision 631). Nothing here looks at who plays: the
wait is that of all turns lately, whichever policies met in them.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TypedDict

from django.conf import settings
from django.db.models import Min

from arena.errors import QueueFull, TooManyTurns
from arena.models import Rollout, RolloutStatus, Session, Turn

RECENT_TURNS = 20
TRY_AGAIN_S = 5
"""When to come back, where nothing is known about the wait."""


class QueueJson(TypedDict):
    """`ahead`: turns that will be played earlier and are not done. `expected_wait_s`: until they are, null when
    unknown."""

    ahead: int
    expected_wait_s: int | None


@dataclass(frozen=True)
class Waiting:
    """An unsettled turn. `caller`: who sent it, as far as its address tells. `sent`: the workers have heard of it."""

    key: int
    visitor: str
    caller: str
    sent: bool
    playing: int


def unsettled() -> list[Waiting]:
    """All turns that are not done, in the order in which they came: one query."""
    columns = ("turn__pk", "turn__session__user_id", "turn__session_id", "turn__caller", "status", "heartbeat_at")
    rows = Rollout.objects.filter(turn__settled_at=None).order_by("turn__pk").values_list(*columns)
    found: dict[int, Waiting] = {}
    for key, user, session, caller, status, heard_at in rows:
        sent = status != RolloutStatus.QUEUED or heard_at is not None
        before = found.get(key, Waiting(key, user or session, caller, False, 0))
        playing = before.playing + (status == RolloutStatus.RUNNING)
        found[key] = Waiting(key, before.visitor, caller, before.sent or sent, playing)
    return list(found.values())


def admit(session: Session, caller: str) -> bool:
    """Whether a turn that comes now goes to the workers at once; False: once earlier ones of its visitor are done.

    Raises TooManyTurns and QueueFull. For `arena.actions.line.join_line`, which holds the line's lock, so that the
    bounds hold however many ask at once.
    """
    rules: dict[str, int] = settings.QUEUE
    line = unsettled()
    visitor = visitor_in_line(session)
    own = [each for each in line if each.visitor == visitor]
    neighbours = [each for each in line if caller and each.caller == caller]
    if _reached(len(own), rules["per_visitor"]):
        raise TooManyTurns("visitor", rules["per_visitor"], _soon(line, 1))
    if _reached(len(neighbours), rules["per_address"]):
        raise TooManyTurns("address", rules["per_address"], _soon(line, 1))
    if _reached(len(line), rules["turns"]):
        raise QueueFull(len(line), _wait(len(line), line), _soon(line, 1))
    wait = _wait(_ahead(line, visitor, len(own)), line)
    if rules["wait_s"] and wait is not None and wait > rules["wait_s"]:
        raise QueueFull(len(line), wait, math.ceil(wait - rules["wait_s"]))
    return may_go(sum(each.sent for each in own))


def place_in_queue(turn: Turn) -> QueueJson:
    """Where a turn stands; a turn that both sides have started, or that has ended, has nobody ahead."""
    if not any(rollout.status == RolloutStatus.QUEUED for rollout in turn.rollouts.all()):
        return {"ahead": 0, "expected_wait_s": 0}
    line = unsettled()
    earlier = [each for each in line if each.key < turn.pk]
    visitor = visitor_in_line(turn.battle.session)
    ahead = _ahead(earlier, visitor, sum(each.visitor == visitor for each in earlier))
    return {"ahead": ahead, "expected_wait_s": _wait(ahead, line)}


def visitor_in_line(session: Session) -> str:
    """Whose turns take turns with other people's: a visitor's, or a session's where nobody is known."""
    return str(session.user_id or session.session_id)


def may_go(sent: int) -> bool:
    """Whether a visitor of whose turns so many are with the workers may send them another."""
    return not _reached(sent, int(settings.QUEUE["at_once"]))


def _reached(number: int, bound: int) -> bool:
    """A bound of 0 is none."""
    return 0 < bound <= number


def _ahead(line: list[Waiting], visitor: str, own: int) -> int:
    """Turns that come before this visitor's next one: `own` earlier ones, and of each other visitor one more than that
    at most, for visitors take turns."""
    others = Counter(each.visitor for each in line if each.visitor != visitor)
    return own + sum(min(number, own + 1) for number in others.values())


def _soon(line: list[Waiting], turns: int) -> int:
    """Seconds until about so many turns are done; at least one."""
    return max(1, _wait(turns, line) or TRY_AGAIN_S)


def _wait(ahead: int, line: list[Waiting]) -> int | None:
    """As long as so many turns take, when as many are played side by side as now (a turn is two rollouts)."""
    if ahead == 0:
        return 0
    seconds = _recent_seconds()
    at_once = max(1.0, sum(each.playing for each in line) / 2)
    return round(ahead * statistics.median(seconds) / at_once) if seconds else None


def _recent_seconds() -> list[float]:
    """How long those of the last turns took that both sides completed, from the first start to the end."""
    last = Turn.objects.judged().exclude(settled_at=None).order_by("-settled_at").values_list("pk", flat=True)
    recent = (
        Turn.objects.completed().filter(pk__in=list(last[:RECENT_TURNS])).annotate(began=Min("rollouts__started_at"))
    )
    spans = recent.order_by().values_list("began", "settled_at")
    return [(settled - began).total_seconds() for began, settled in spans if began is not None]
