"""The queue of turns: which turns go to the workers next, and how long the others wait. Who may join: `queue.entry`.

Each network may have one turn with the workers, and each visitor `settings.QUEUE["at_once"]`. A network gets more only
while workers are idle. The other turns wait as rows (`arena.actions.admission`), so that networks take turns, and so do
the visitors within each (decision: admission). Nothing here looks at the contestants: the expected wait is that of all
recent turns. A turn counts as its visitor's until its end is shown, so the queue does not say when its sides were done
(decision: release-clock). A sweep sends the turns that wait for that moment.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple, TypedDict

from django.conf import settings
from django.db import connection
from django.db.models import Max, Q
from django.utils import timezone

from arena.live import release
from arena.models import Session, Turn, live_between, read_moment

RECENT_TURNS, ENOUGH_TURNS = 20, 10
SLACK = timedelta(seconds=5)
"""A settled turn is shown at most the longest turn's duration, plus this, after it settled."""
DEFAULT_RETRY_S = 5
"""When to come back while the expected wait is unknown."""


class QueueJson(TypedDict):
    """`ahead`: turns that will be played earlier and are not done. `expected_wait_s`: until they are, null when
    unknown."""

    ahead: int
    expected_wait_s: int | None


class QueuedTurn(NamedTuple):
    """One row of `QUEUE`. `network`: a digest, or the visitor if the network is exempt. `caller`: the address's digest,
    empty if exempt. `playing`: how many of its sides are running. `is_typical`: both sides completed it, and its battle
    is closed. Other durations do not count for the expected wait, because a duration hints at who plays."""

    key: int
    battle: str
    visitor: str
    network: str
    caller: str
    is_waiting: bool
    is_unshown: bool
    is_sent: bool
    playing: int
    is_typical: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class QueueSnapshot:
    """`waiting`: unsettled turns, in order of arrival. `unshown`: settled turns whose end is not shown yet. `done`:
    the last turns whose end is shown. `slots`: turns that live workers can play side by side; 0 if none announces any.
    `revision`: of the lock (`arena.models.AdmissionLock`); `last`: the newest turn's key.
    """

    waiting: list[QueuedTurn]
    unshown: list[QueuedTurn]
    done: list[QueuedTurn]
    slots: int
    revision: int = 0
    last: int = 0

    @cached_property
    def sent_networks(self) -> Counter[str]:
        """How many turns of each network are with the workers."""
        return Counter(each.network for each in self.waiting if each.is_sent)

    @cached_property
    def busy_visitors(self) -> Counter[str]:
        """How many turns of each visitor are with the workers or not shown yet."""
        return Counter(each.visitor for each in [*self.waiting, *self.unshown] if each.is_sent or not each.is_waiting)

    def candidates(self) -> list[QueuedTurn]:
        """Held turns of which any one may go to the workers now. A battle of several starts has one candidate at a
        time, once the end of the one before is shown."""
        first = {each.battle: each.key for each in reversed(self.waiting)}
        showing = {each.battle for each in self.unshown}
        return [
            each
            for each in self.waiting
            if not each.is_sent
            and first[each.battle] == each.key
            and each.battle not in showing
            and self.has_room(each.visitor, each.network)
        ]

    def has_room(self, visitor: str, network: str) -> bool:
        """Whether one more turn of this visitor may go to the workers."""
        at_once = settings.QUEUE["at_once"]
        if 0 < at_once <= self.busy_visitors[visitor]:
            return False
        return self.sent_networks.total() < self.slots or not self.sent_networks[network]

    def send(self, turn: QueuedTurn) -> QueueSnapshot:
        """The queue once this turn is with the workers."""
        waiting = [each._replace(is_sent=True) if each.key == turn.key else each for each in self.waiting]
        return replace(self, waiting=waiting)

    def turns_of(self, visitor: str) -> int:
        """The visitor's turns that are unsettled or not shown."""
        return sum(each.visitor == visitor for each in [*self.waiting, *self.unshown])


WHICH = """
WITH relevant AS (
    SELECT id FROM turns WHERE settled_at IS NULL
    UNION
    SELECT id FROM turns WHERE settled_at > %s AND shown_at > %s
    UNION
    SELECT id FROM (
        SELECT id FROM turns
        WHERE settled_at IS NOT NULL AND NOT exploration AND COALESCE(shown_at <= %s, TRUE)
        ORDER BY settled_at DESC LIMIT %s
    ) AS done
), live AS (
    SELECT MAX(slots) AS slots FROM hostings WHERE seen_at BETWEEN %s AND %s GROUP BY worker
)
SELECT state.*, queued.* FROM (
    SELECT (SELECT SUM(slots) FROM live), (SELECT MAX(revision) FROM turn_line), (SELECT MAX(id) FROM turns)
) AS state LEFT JOIN (
"""
ROWS = """
SELECT turn.id AS key, turn.battle_id, COALESCE(NULLIF(visit.user_id, ''), visit.session_id),
    COALESCE(NULLIF(turn.network, ''), NULLIF(visit.user_id, ''), visit.session_id), turn.caller,
    turn.settled_at IS NULL, COALESCE(turn.shown_at > %s, FALSE),
    SUM(CASE WHEN side.status = 'held' THEN 0 ELSE 1 END) > 0,
    SUM(CASE WHEN side.status = 'running' THEN 1 ELSE 0 END),
    battle.status <> 'ongoing' AND SUM(CASE WHEN side.status = 'failed' THEN 1 ELSE 0 END) = 0,
    turn.created_at, MIN(side.started_at), MAX(side.finished_at)
FROM relevant
JOIN turns AS turn ON turn.id = relevant.id
JOIN rollouts AS side ON side.turn_id = turn.turn_id
JOIN battles AS battle ON battle.battle_id = turn.battle_id
JOIN sessions AS visit ON visit.session_id = turn.session_id
GROUP BY turn.id, battle.status, visit.user_id, visit.session_id
"""
QUEUE = f"{WHICH}{ROWS}) AS queued ON TRUE ORDER BY queued.key"
SINCE = f"WITH relevant AS (SELECT id FROM turns WHERE id > %s) {ROWS} ORDER BY turn.id"  # noqa: S608
"""By hand: Django takes longer to build the query than the engine to answer it."""


def read_queue(recent: int = RECENT_TURNS) -> QueueSnapshot:
    """All unsettled and unshown turns, and so many of the last shown ones: one query."""
    now = timezone.now()
    moments = [now - release.longest_of_any() - SLACK, now, *live_between()]
    settled_since, now_here, *live = map(connection.ops.adapt_datetimefield_value, moments)
    with connection.cursor() as cursor:
        cursor.execute(QUEUE, [settled_since, now_here, now_here, recent, *live, now_here])
        rows = cursor.fetchall()
    slots, revision, last = rows[0][:3]
    turns = [_turn(row[3:]) for row in rows if row[3] is not None]
    return QueueSnapshot(
        waiting=[turn for turn in turns if turn.is_waiting],
        unshown=[turn for turn in turns if turn.is_unshown],
        done=[turn for turn in turns if not turn.is_waiting and not turn.is_unshown],
        slots=int(slots or 0) // 2,
        revision=revision or 0,
        last=last or 0,
    )


def read_since(last: int) -> list[QueuedTurn]:
    """Turns added after the one with this key that are unsettled or unshown."""
    with connection.cursor() as cursor:
        cursor.execute(SINCE, [last, connection.ops.adapt_datetimefield_value(timezone.now())])
        turns = [_turn(row) for row in cursor.fetchall()]
    return [turn for turn in turns if turn.is_waiting or turn.is_unshown]


def _turn(row: Sequence[Any]) -> QueuedTurn:
    return QueuedTurn(*row[:-3], *map(read_moment, row[-3:]))


def next_turns() -> list[int]:
    """Keys of the held turns that may go to the workers now, in order. One query, or two if several visitors wait.

    The networks with the fewest turns there go first, and within a network the visitors with the fewest. Among those,
    the visitor goes first who has waited longest since sending the turn or since the end of their last turn.
    """
    queue, chosen = read_queue(recent=0), []
    candidates = queue.candidates()
    played = last_played(candidates) if len({each.visitor for each in candidates}) > 1 else {}
    while candidates:
        networks = Counter(each.network for each in queue.waiting if each.is_sent)
        visitors = Counter(each.visitor for each in queue.waiting if each.is_sent)
        first = min(
            candidates,
            key=lambda each: (
                networks[each.network],
                visitors[each.visitor],
                max(each.created_at, played.get(each.visitor, each.created_at)),
                each.key,
            ),
        )
        chosen.append(first.key)
        queue = queue.send(first)
        candidates = queue.candidates()
    return chosen


def last_played(waiting: list[QueuedTurn]) -> dict[str, datetime]:
    """When each visitor's last turn settled, if that was after the first of these turns was sent."""
    visitors = {each.visitor for each in waiting}
    of_them = Q(session__user_id__in=visitors) | Q(session_id__in=visitors)
    recent = Turn.objects.filter(of_them, settled_at__gte=min(each.created_at for each in waiting)).order_by()
    rows = recent.values_list("session__user_id", "session_id").annotate(Max("settled_at"))
    found: dict[str, datetime] = {}
    for user_id, session_id, settled_at in rows:
        visitor = str(user_id or session_id)
        found[visitor] = max(settled_at, found.get(visitor, settled_at))
    return found


def queue_position(turn: Turn) -> QueueJson:
    """Where a turn stands. Nothing is ahead of a turn that both sides have started or whose end is shown."""
    if all(attempt.started_at is not None for attempt in turn.attempts.all()) or release.told(turn):
        return {"ahead": 0, "expected_wait_s": 0}
    queue = read_queue()
    earlier = replace(queue, waiting=[each for each in queue.waiting if each.key < turn.pk])
    visitor = visitor_of(turn.battle.session)
    ahead = ahead_of(earlier, visitor, turn.network or visitor)
    return {"ahead": ahead, "expected_wait_s": _wait_s(ahead, queue)}


def visitor_of(session: Session) -> str:
    """The visitor's id, or the session's if there is none."""
    return str(session.user_id or session.session_id)


def ahead_of(queue: QueueSnapshot, visitor: str, network: str) -> int:
    """How many turns come before this visitor's next one: all of its own; at most one more than that of each other
    visitor of the network; and of each other network at most one more than this network has ahead."""
    own = queue.turns_of(visitor)
    neighbours = Counter(each.visitor for each in queue.waiting if each.network == network and each.visitor != visitor)
    inside = own + sum(min(number, own + 1) for number in neighbours.values())
    others = Counter(each.network for each in queue.waiting if each.network != network)
    return inside + sum(min(number, inside + 1) for number in others.values())


def _wait_s(ahead: int, queue: QueueSnapshot) -> int | None:
    """How long so many turns take; None if unknown."""
    if ahead == 0:
        return 0
    a_turn_s = seconds_a_turn(queue)
    return None if a_turn_s is None else round(ahead * a_turn_s)


def seconds_a_turn(queue: QueueSnapshot) -> float | None:
    """How long a turn takes while as many are played side by side as now; None if unknown."""
    ends, durations = [], []
    for turn in queue.done:
        if turn.started_at and turn.finished_at:
            ends.append(turn.finished_at)
            if turn.is_typical:
                durations.append((turn.finished_at - turn.started_at).total_seconds())
    if not durations:
        return None
    at_once = max(1.0, sum(each.playing for each in queue.waiting) / 2)  # a turn has two sides
    return min(statistics.median(durations) / at_once, _pace_s(ends))


def _pace_s(ended: list[datetime]) -> float:
    """Recent seconds from one turn's end to the next, until now; infinite if too few turns have ended.

    It is accurate while the queue is long. Then one side of a turn may wait for a worker after the other has started,
    which makes durations too long. While the queue is short, the pace includes idle time.
    """
    if len(ended) < ENOUGH_TURNS:
        return math.inf
    return max(0.0, (timezone.now() - min(ended)).total_seconds()) / len(ended)
