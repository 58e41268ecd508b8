"""Expiring the recordings of a battle without a vote."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from arena.actions.announce import lock_battle
from arena.actions.sessions import abandon
from arena.models import Attempt, BattleStatus


def expire_battle(battle_id: str, untouched_since: datetime) -> int:
    """Mark the recordings of an unvoted battle as expired, and close it to turns and votes. Answers how many.

    0 if the battle was touched in the meantime. The recordings are deleted later (`arena.retention`).
    """
    with transaction.atomic():
        battle = lock_battle(battle_id)
        playing = battle.turns.unsettled().exists()
        if battle.status == BattleStatus.VOTED or battle.updated_at >= untouched_since or playing:
            return 0
        abandon(battle)
        return Attempt.objects.filter(turn__battle=battle, expired_at=None).update(expired_at=timezone.now())
