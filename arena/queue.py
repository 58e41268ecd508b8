"""The line of turns: who may join it, and how long it takes, for visitors who wait calmly when they know.

A visitor has so many turns with the workers at once (`settings.QUEUE["at_once"]`), and the others wait as rows
(`arena.actions.line`), so that visitors take turns by themselves (decision 631). Nothing here looks at who plays: the
wait is that of all turns lately, whichever policies met in them.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple, TypedDict

from django.conf import settings
from django.db import connection
from django.utils import timezone

from arena import release
from arena.errors import QueueFull, TooManyTurns
from arena.models import RolloutStatus, Session, Turn, read_moment

RECENT_TURNS, ENOUGH_TURNS = 20, 10
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


@dataclass(frozen=True)
class Line:
    """`waiting`: all turns that are not done, in the order in which they came. `seconds`: how long those of the last
    turns took that both sides completed, from the first start to the end. `ended`: when the last turns did."""

    waiting: list[Waiting]
    seconds: list[float]
    ended: list[datetime]


class _Side(NamedTuple):
    """A rollout, as far as the line asks. `key`, `visitor` and `caller` are its turn's, as is whether it `waits`."""

    key: int
    visitor: str
    caller: str
    waits: bool
    status: str
    heartbeat_at: Any
    started_at: Any
    finished_at: Any


LINE = """
WITH asked AS (
    SELECT id FROM turns WHERE settled_at IS NULL
    UNION ALL
    SELECT id FROM (
        SELECT id FROM turns WHERE settled_at IS NOT NULL AND NOT exploration ORDER BY settled_at DESC LIMIT %s
    ) AS done
)
SELECT turn.id, COALESCE(NULLIF(stay.user_id, ''), stay.session_id), turn.caller, turn.settled_at IS NULL,
    side.status, side.heartbeat_at, side.started_at, side.finished_at
FROM asked
JOIN turns AS turn ON turn.id = asked.id
JOIN rollouts AS side ON side.turn_id = turn.turn_id
JOIN sessions AS stay ON stay.session_id = turn.session_id
ORDER BY turn.id
"""
"""Asked under the lock of the line, and so by hand: Django takes longer to write this than the engine to answer."""


def the_line(recent: int = RECENT_TURNS) -> Line:
    """One query: what is not done, and the last turns that are."""
    with connection.cursor() as cursor:
        cursor.execute(LINE, [recent])
        sides = [_Side(*row) for row in cursor.fetchall()]
    done = [list(both) for _, both in groupby((side for side in sides if not side.waits), key=lambda side: side.key)]
    spans = [span for both in done if (span := _span(both))]
    return Line(
        waiting=_waiting(side for side in sides if side.waits),
        seconds=[(end - start).total_seconds() for start, end, completed in spans if completed],
        ended=[end for _, end, _ in spans],
    )


def unsettled() -> list[Waiting]:
    """All turns that are not done, in the order in which they came: one query."""
    return the_line(recent=0).waiting


def admit(session: Session, caller: str) -> bool:
    """Whether a turn that comes now goes to the workers at once; False: once earlier ones of its visitor are done.

    Raises TooManyTurns and QueueFull. For `arena.actions.line.join_line`, which holds the line's lock, so that the
    bounds hold however many ask at once.
    """
    rules: dict[str, int] = settings.QUEUE
    known = the_line()
    line = known.waiting
    visitor = visitor_in_line(session)
    own = [each for each in line if each.visitor == visitor]
    neighbours = [each for each in line if caller and each.caller == caller]
    if _reached(len(own), rules["per_visitor"]):
        raise TooManyTurns("visitor", rules["per_visitor"], _soon(known, 1))
    if _reached(len(neighbours), rules["per_address"]):
        raise TooManyTurns("address", rules["per_address"], _soon(known, 1))
    if _reached(len(line), rules["turns"]):
        raise QueueFull(len(line), _wait(len(line), known), _soon(known, 1))
    wait = _wait(_ahead(line, visitor, len(own)), known)
    if rules["wait_s"] and wait is not None and wait > rules["wait_s"]:
        raise QueueFull(len(line), wait, math.ceil(wait - rules["wait_s"]))
    return may_go(sum(each.sent for each in own))


def place_in_queue(turn: Turn) -> QueueJson:
    """Where a turn stands; a turn that both sides have started, or whose end is told, has nobody ahead."""
    if all(rollout.started_at is not None for rollout in turn.rollouts.all()) or release.told(turn):
        return {"ahead": 0, "expected_wait_s": 0}
    line = the_line()
    earlier = [each for each in line.waiting if each.key < turn.pk]
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


def _soon(line: Line, turns: int) -> int:
    """Seconds until about so many turns are done; at least one."""
    return max(1, _wait(turns, line) or TRY_AGAIN_S)


def _wait(ahead: int, line: Line) -> int | None:
    """As long as so many turns take, when as many are played side by side as now (a turn is two rollouts)."""
    if ahead == 0:
        return 0
    if not line.seconds:
        return None
    at_once = max(1.0, sum(each.playing for each in line.waiting) / 2)
    return round(ahead * min(statistics.median(line.seconds) / at_once, _pace(line.ended)))


def _pace(ended: list[datetime]) -> float:
    """Seconds from one turn's end to the next's lately, until now; infinite where too few have ended.

    It is right while the line is long, when one side of a turn may wait for a worker after the other has started, which
    is no time that anything took. While the line is short, it counts when nobody played.
    """
    if len(ended) < ENOUGH_TURNS:
        return math.inf
    return max(0.0, (timezone.now() - min(ended)).total_seconds()) / len(ended)


def _waiting(sides: Iterable[_Side]) -> list[Waiting]:
    found: dict[int, Waiting] = {}
    for side in sides:
        before = found.get(side.key, Waiting(side.key, side.visitor, side.caller, False, 0))
        held = side.status == RolloutStatus.QUEUED and side.heartbeat_at is None
        playing = before.playing + (side.status == RolloutStatus.RUNNING)
        found[side.key] = replace(before, sent=before.sent or not held, playing=playing)
    return list(found.values())


def _span(turn: list[_Side]) -> tuple[datetime, datetime, bool] | None:
    """Of a turn that is done: its first start, its end, and whether both sides completed it. None if none started."""
    began = [read_moment(side.started_at) for side in turn if side.started_at]
    ended = [read_moment(side.finished_at) for side in turn if side.finished_at]
    if not began or not ended:
        return None
    return min(began), max(ended), not any(side.status == RolloutStatus.FAILED for side in turn)
