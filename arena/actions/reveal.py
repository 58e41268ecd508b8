"""A member of the staff looks at the names of a battle before its vote."""

from __future__ import annotations

from django.db import transaction

from arena.actions.announce import lock_battle
from arena.errors import AlreadyVoted
from arena.models import Battle, BattleStatus


def reveal_names(battle_id: str) -> Battle:
    """Spoil a battle: staff may see its names, and its vote counts nowhere. The visitor learns nothing and may vote.

    Raises AlreadyVoted if the vote came first.
    """
    with transaction.atomic():
        battle = lock_battle(battle_id)
        if battle.status == BattleStatus.VOTED:
            raise AlreadyVoted
        battle.spoiled = True
        battle.save(update_fields=["spoiled"])
        return battle
