"""The line of turns: who may join it, and how long it takes, for visitors who wait calmly when they know.

A network has one turn with the workers at once, more only where workers would idle otherwise, and a visitor so many as
`settings.QUEUE["at_once"]` says. The others wait as rows (`arena.actions.admission`), so that networks take turns by
themselves, and within each its visitors (decision: admission). Nothing here looks at who plays: the wait is that of
all turns lately, whichever policies met in them. To its own visitor a turn stands in the line until its end is told,
and so does not say when its sides were done (decision: release-clock); whom it keeps waiting, a sweep sends.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple, TypedDict

from django.conf import settings
from django.db import connection
from django.db.models import Max, Q
from django.utils import timezone

from arena.errors import QueueFull, TooManyTurns
from arena.live import release
from arena.models import AttemptStatus, Session, Turn, live_between, read_moment
from arena.visitors.networks import CallerDigests

RECENT_TURNS, ENOUGH_TURNS = 20, 10
SLACK = timedelta(seconds=5)
"""A turn is told at most as long after it settled as a turn may last, and this."""
TRY_AGAIN_S = 5
"""When to come back, where nothing is known about the wait."""


class QueueJson(TypedDict):
    """`ahead`: turns that will be played earlier and are not done. `expected_wait_s`: until they are, null when
    unknown."""

    ahead: int
    expected_wait_s: int | None


@dataclass(frozen=True)
class Waiting:
    """An unsettled turn. `network`: a digest; the visitor where the network is exempt, so that it is one of its own.
    `caller`: the address' digest, empty where exempt. `sent`: the workers have heard of it. `since`: when it came."""

    key: int
    battle: str
    visitor: str
    network: str
    caller: str
    sent: bool
    playing: int
    since: datetime


@dataclass(frozen=True)
class Line:
    """`waiting`: all turns that are not done, in the order in which they came. `seconds`: how long those of the last
    turns took that both sides completed and whose battles are closed, from the first start to the end. `ended`: when
    the last turns did. `slots`: turns that live workers can play side by side; 0 where none says anything. `untold`:
    how many turns of each visitor are done and not told. `showing`: the battles of those turns."""

    waiting: list[Waiting]
    seconds: list[float]
    ended: list[datetime]
    slots: int = 0
    untold: Counter[str] = field(default_factory=Counter)
    showing: frozenset[str] = frozenset()

    def candidates(self) -> list[Waiting]:
        """Held turns that may go to the workers now, if none of the others does: of a battle of several starts one at
        a time, once the end of the one before is told."""
        first: dict[str, int] = {}
        for each in self.waiting:
            first.setdefault(each.battle, each.key)
        return [
            each
            for each in self.waiting
            if not each.sent
            and first[each.battle] == each.key
            and each.battle not in self.showing
            and self.has_room(each.visitor, each.network)
        ]

    def has_room(self, visitor: str, network: str) -> bool:
        """Whether one turn more of this visitor may go to the workers."""
        sent = [each for each in self.waiting if each.sent]
        own = sum(each.visitor == visitor for each in sent) + self.untold[visitor]
        if _reached(own, int(settings.QUEUE["at_once"])):
            return False
        return len(sent) < self.slots or not any(each.network == network for each in sent)

    def send(self, turn: Waiting) -> Line:
        """The line once this turn is with the workers."""
        return replace(self, waiting=[replace(each, sent=each.sent or each == turn) for each in self.waiting])


class _Side(NamedTuple):
    """An attempt, as far as the line asks. All up to `closed` is its turn's: whether it waits, whether it is done and
    not told, and whether its battle takes no vote any more."""

    slots: int | None
    key: int
    battle: str
    visitor: str
    network: str
    caller: str
    since: Any
    waits: bool
    untold: bool
    closed: bool
    status: str
    started_at: Any
    finished_at: Any


LINE = """
WITH asked AS (
    SELECT id FROM turns WHERE settled_at IS NULL
    UNION
    SELECT id FROM turns WHERE settled_at > %s AND shown_at > %s
    UNION
    SELECT id FROM (
        SELECT id FROM turns WHERE settled_at IS NOT NULL AND NOT exploration ORDER BY settled_at DESC LIMIT %s
    ) AS done
), live AS (
    SELECT MAX(slots) AS slots FROM hostings WHERE seen_at BETWEEN %s AND %s GROUP BY worker
)
SELECT (SELECT SUM(slots) FROM live), turn.id, turn.battle_id, COALESCE(NULLIF(stay.user_id, ''), stay.session_id),
    COALESCE(NULLIF(turn.network, ''), NULLIF(stay.user_id, ''), stay.session_id), turn.caller, turn.created_at,
    turn.settled_at IS NULL, COALESCE(turn.shown_at > %s, FALSE), battle.status <> 'ongoing',
    side.status, side.started_at, side.finished_at
FROM asked
JOIN turns AS turn ON turn.id = asked.id
JOIN rollouts AS side ON side.turn_id = turn.turn_id
JOIN battles AS battle ON battle.battle_id = turn.battle_id
JOIN sessions AS stay ON stay.session_id = turn.session_id
ORDER BY turn.id
"""
"""Asked under the lock of the line, and so by hand: Django takes longer to write this than the engine to answer."""


def the_line(recent: int = RECENT_TURNS) -> Line:
    """One query: what is not done, or not told; and the last turns that are."""
    now = timezone.now()
    moments = [now - release.longest_of_any() - SLACK, now, *live_between()]
    wanted = list(map(connection.ops.adapt_datetimefield_value, moments))
    with connection.cursor() as cursor:
        cursor.execute(LINE, [*wanted[:2], recent, *wanted[2:], wanted[1]])
        sides = [_Side(*row) for row in cursor.fetchall()]
    told = [side for side in sides if not side.waits and not side.untold]
    spans = [span for _, both in groupby(told, key=lambda side: side.key) if (span := _span(list(both)))]
    return Line(
        waiting=_waiting(side for side in sides if side.waits),
        seconds=[(end - start).total_seconds() for start, end, counts in spans if counts],
        ended=[end for _, end, _ in spans],
        slots=int(sides[0].slots or 0) // 2 if sides else 0,
        untold=Counter(visitor for _, visitor in {(side.key, side.visitor) for side in sides if side.untold}),
        showing=frozenset(side.battle for side in sides if side.untold),
    )


def next_turns() -> list[int]:
    """Keys of the held turns that may go to the workers now, in their order. One query, and a second where several
    visitors of a network wait.

    First the networks with the fewest turns there; within a network the visitors with the fewest; of them the one who
    has waited longest, since sending the turn or since the end of the last one played.
    """
    line, chosen = the_line(recent=0), []
    candidates = line.candidates()
    played = last_played(candidates) if len({each.visitor for each in candidates}) > 1 else {}
    while candidates:
        networks = Counter(each.network for each in line.waiting if each.sent)
        visitors = Counter(each.visitor for each in line.waiting if each.sent)
        first = min(
            candidates,
            key=lambda each: (
                networks[each.network],
                visitors[each.visitor],
                max(each.since, played.get(each.visitor, each.since)),
                each.key,
            ),
        )
        chosen.append(first.key)
        line = line.send(first)
        candidates = line.candidates()
    return chosen


def last_played(waiting: list[Waiting]) -> dict[str, datetime]:
    """When the last turn of each of these visitors settled, where that was after the first of these turns came."""
    visitors = {each.visitor for each in waiting}
    of_them = Q(session__user_id__in=visitors) | Q(session_id__in=visitors)
    lately = Turn.objects.filter(of_them, settled_at__gte=min(each.since for each in waiting)).order_by()
    rows = lately.values_list("session__user_id", "session_id").annotate(Max("settled_at"))
    found: dict[str, datetime] = {}
    for user_id, session_id, settled_at in rows:
        visitor = str(user_id or session_id)
        found[visitor] = max(settled_at, found.get(visitor, settled_at))
    return found


def admit(session: Session, caller: CallerDigests, turns: int = 1) -> bool:
    """Whether a turn that comes now goes to the workers at once; False: it waits for others of its network. Of several
    `turns` the others come after it: there has to be room for each, as if they came one by one.

    Raises TooManyTurns and QueueFull. For `arena.actions.admission.join_queue`, which holds the lock, so that the
    bounds hold however many ask at once.
    """
    rules: dict[str, int] = settings.QUEUE
    known = the_line()
    line = known.waiting
    visitor = visitor_in_line(session)
    own = sum(each.visitor == visitor for each in line) + known.untold[visitor]
    network = caller.network or visitor
    neighbours = [each for each in line if caller.address and each.caller == caller.address]
    more = turns - 1
    if _reached(own + more, rules["per_visitor"]):
        raise TooManyTurns("visitor", rules["per_visitor"], _soon(known, 1))
    if _reached(len(neighbours) + more, rules["per_address"]):
        raise TooManyTurns("address", rules["per_address"], _soon(known, 1))
    _check_room(known, caller, more)
    wait = _wait(more + _ahead(line, visitor, network, known.untold[visitor]), known)
    if rules["wait_s"] and wait is not None and wait > rules["wait_s"]:
        raise QueueFull(len(line), wait, math.ceil(wait - rules["wait_s"]))
    return known.has_room(visitor, network) and not _is_overtaking(known, network)


def place_in_queue(turn: Turn) -> QueueJson:
    """Where a turn stands; a turn that both sides have started, or whose end is told, has nobody ahead."""
    if all(attempt.started_at is not None for attempt in turn.attempts.all()) or release.told(turn):
        return {"ahead": 0, "expected_wait_s": 0}
    line = the_line()
    earlier = [each for each in line.waiting if each.key < turn.pk]
    visitor = visitor_in_line(turn.battle.session)
    ahead = _ahead(earlier, visitor, turn.network or visitor, line.untold[visitor])
    return {"ahead": ahead, "expected_wait_s": _wait(ahead, line)}


def visitor_in_line(session: Session) -> str:
    """Whose turns take turns with other people's: a visitor's, or a session's where nobody is known."""
    return str(session.user_id or session.session_id)


def _check_room(known: Line, caller: CallerDigests, more: int) -> None:
    """Raises QueueFull, or TooManyTurns for a network. `more`: how many turns come beside the first.

    A network may have as many turns in the line as there are places left, and one in any case: however many it sends,
    there is room for the next network. Visitors of exempt networks share the places among themselves.
    """
    line, places = known.waiting, int(settings.QUEUE["turns"])
    own = [each for each in line if (each.network == caller.network if caller.network else not each.caller)]
    bound = max(1, places - len(line)) if places and caller.network else places
    if not _reached(len(own) + more, bound):
        return
    if caller.network:
        raise TooManyTurns("network", len(own), _soon(known, 1))
    raise QueueFull(len(line), _wait(len(line), known), _soon(known, 1))


def _is_overtaking(known: Line, network: str) -> bool:
    """Whether a turn of this network would go before one that waits already: of the network itself, or, where the
    network has a turn with the workers, of any."""
    served = any(each.sent and each.network == network for each in known.waiting)
    return any(served or each.network == network for each in known.candidates())


def _reached(number: int, bound: int) -> bool:
    """A bound of 0 is none."""
    return 0 < bound <= number


def _ahead(line: list[Waiting], visitor: str, network: str, untold: int) -> int:
    """Turns that come before this visitor's next one: its own, of which so many are not told, of each other visitor of
    the network one more than that at most, and of each other network one more than those of this one, for networks take
    turns and so do visitors."""
    own = sum(each.visitor == visitor for each in line) + untold
    neighbours = Counter(each.visitor for each in line if each.network == network and each.visitor != visitor)
    inside = own + sum(min(number, own + 1) for number in neighbours.values())
    others = Counter(each.network for each in line if each.network != network)
    return inside + sum(min(number, inside + 1) for number in others.values())


def _soon(line: Line, turns: int) -> int:
    """Seconds until about so many turns are done; at least one."""
    return max(1, _wait(turns, line) or TRY_AGAIN_S)


def _wait(ahead: int, line: Line) -> int | None:
    """As long as so many turns take, when as many are played side by side as now (a turn is two attempts)."""
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
        before = found.get(side.key) or Waiting(
            side.key, side.battle, side.visitor, side.network, side.caller, False, 0, read_moment(side.since)
        )
        held = side.status == AttemptStatus.HELD
        playing = before.playing + (side.status == AttemptStatus.RUNNING)
        found[side.key] = replace(before, sent=before.sent or not held, playing=playing)
    return list(found.values())


def _span(turn: list[_Side]) -> tuple[datetime, datetime, bool] | None:
    """Of a turn that is done: its first start, its end, and whether it says how long turns take: both sides completed
    it, and its battle is closed, for how long it took says something of who plays. None if none started."""
    began = [read_moment(side.started_at) for side in turn if side.started_at]
    ended = [read_moment(side.finished_at) for side in turn if side.finished_at]
    if not began or not ended:
        return None
    return min(began), max(ended), all(side.closed and side.status != AttemptStatus.FAILED for side in turn)
