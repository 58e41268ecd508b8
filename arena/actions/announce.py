"""Numbering events under the battle's lock, and publishing them after the commit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from arena.live import events, release
from arena.models import Battle, BattleQuerySet, Compiled, Turn

NUMBER = "UPDATE battles SET event_seq = event_seq + 1, updated_at = %s{columns} WHERE battle_id = %s{only} RETURNING *"
TOUCH = "UPDATE sessions SET last_active_at = %s WHERE session_id = %s"


def touch_session(session_id: str) -> None:
    """Note that the session was active. This locks its row: take this lock before the battle's."""
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        cursor.execute(TOUCH, [now, session_id])


def to_be_locked(rows: BattleQuerySet) -> Compiled[Battle]:
    """What `lock_battle` asks: of these rows that with its id, which is locked without its relations."""
    return Compiled(lambda battle_id: rows.select_for_update(of=("self",)).filter(battle_id=battle_id).order_by())


WITH_SESSION = to_be_locked(Battle.objects.select_related("session"))


def lock_battle(battle_id: str, rows: Compiled[Battle] = WITH_SESSION) -> Battle:
    """The battle with its session, or with what `rows` says. Only its own row is locked, until the transaction ends.

    Raises Battle.DoesNotExist.
    """
    battle = rows.first(battle_id)
    if battle is None:
        raise Battle.DoesNotExist
    return battle


def lock_numbered(battle: Battle, at_first: Mapping[str, Any] | None = None) -> Battle:
    """The battle's current row, locked until the transaction ends, with its sequence raised for one event
    (`announce_numbered`). A rollback takes the number back.

    One statement instead of a lock and a save. `at_first`: columns to change if the battle has no event yet.
    """
    changed = _numbered(battle, at_first, " AND event_seq = 0") if at_first else []
    [locked] = changed or _numbered(battle, {}, "")
    locked.session = battle.session
    return locked


def _numbered(battle: Battle, columns: Mapping[str, Any], only: str) -> list[Battle]:
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    statement = NUMBER.format(columns="".join(f", {name} = %s" for name in columns), only=only)
    return list(Battle.objects.raw(statement, [now, *columns.values(), battle.battle_id]))


def announce(battle: Battle, event_type: str, /, *, instead: bool = False, **fields: Any) -> None:
    """Number an event, and publish it once the transaction is committed. The caller holds the battle's lock.

    `instead`: the number was that of an event that `take_back_end` has taken back.
    """
    announce_all(battle, (event_type, fields), instead=instead)


def announce_all(
    battle: Battle, *numbered: tuple[str, dict[str, Any]], at: datetime | None = None, instead: bool = False
) -> None:
    """`announce` for several events, (type, fields) each, with one save. Sockets send them to browsers at `at`."""
    first = battle.event_seq + 1
    skip_numbers(battle, len(numbered))
    for seq, (event_type, fields) in enumerate(numbered, first):
        _publish(battle, event_type, seq, fields, at=at, instead=instead)


def announce_numbered(battle: Battle, event_type: str, /, **fields: Any) -> None:
    """Publish, once the transaction is committed, the event that `lock_numbered` raised the sequence for."""
    _publish(battle, event_type, battle.event_seq, fields)


def take_back_end(battle: Battle, turns: list[Turn]) -> Turn | None:
    """Take back the numbers of the events of a turn's end that is not shown yet. Answers the turn, or None.

    Events that come before the end is shown get these numbers, as if the turn were still running, so that they do not
    reveal the end. The caller holds the battle's lock and saves its number.
    """
    turn = release.untold(turns)
    if turn is not None and turn.told_seq is not None:
        battle.event_seq = turn.told_seq
    return turn


def skip_numbers(battle: Battle, count: int = 1) -> None:
    """Raise the sequence without an event: browsers see a gap and fetch a snapshot. Saves the status, too."""
    battle.event_seq += count
    battle.save(update_fields=["status", "event_seq", "updated_at"])


def _publish(battle: Battle, event_type: str, seq: int, fields: dict[str, Any], **how: Any) -> None:
    event = events.build(event_type, seq, fields)
    transaction.on_commit(partial(events.publish, battle.battle_id, event, **how))
