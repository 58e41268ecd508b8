"""Numbering events under the battle's lock and telling them after commit."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from arena import events
from arena.models import Battle, Session


def touch_session(session_id: str) -> None:
    """Note the visit. This locks the session's row too: whoever needs both locks takes the session's first."""
    Session.objects.filter(session_id=session_id).update(last_active_at=timezone.now())


def lock_battle(battle_id: str) -> Battle:
    """The battle with its session, its own row locked until the transaction ends. Raises Battle.DoesNotExist."""
    return Battle.objects.select_related("session").select_for_update(of=("self",)).get(battle_id=battle_id)


def announce(battle: Battle, event_type: str, /, **fields: Any) -> None:
    """Number an event and tell it once the transaction is committed. The caller holds the battle's lock."""
    skip_number(battle)
    event = events.build(event_type, battle.event_seq, fields)
    transaction.on_commit(partial(events.publish, battle.battle_id, event))


def skip_number(battle: Battle) -> None:
    """Raise the sequence without an event, so that browsers see a gap and ask for a snapshot. Saves the status, too."""
    battle.event_seq += 1
    battle.save(update_fields=["status", "event_seq", "updated_at"])
