"""A member of the staff looks at the names of a battle before its vote."""

from __future__ import annotations

from django.db import transaction

from arena.actions.announce import lock_battle
from arena.errors import AlreadyVoted
from arena.models import Battle, BattleStatus


def reveal_names(battle_id: str) -> Battle:
    """Spoil a battle: its names may be seen by staff, and whatever is voted on it counts nowhere.

    Its visitor is told nothing, and may vote. Raises AlreadyVoted where the vote was first: nothing is left to spoil.
    """
    with transaction.atomic():
        battle = lock_battle(battle_id)
        if battle.status == BattleStatus.VOTED:
            raise AlreadyVoted
        battle.spoiled = True
        battle.save(update_fields=["spoiled"])
        return battle
