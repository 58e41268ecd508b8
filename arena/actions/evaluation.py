"""Telling what a kind has computed of a voted battle since its vote."""

from __future__ import annotations

from django.db import transaction

from arena.actions.announce import announce, lock_battle
from arena.rules import revealed
from arena.selectors import turn_json


def tell_evaluation(battle_id: str) -> None:
    """Tell open pages the outcomes of a voted battle's turns as they are now. Before the vote nothing is told.

    Raises Battle.DoesNotExist.
    """
    with transaction.atomic():
        battle = lock_battle(battle_id)
        if revealed(battle):
            turns = [turn_json(turn, show_outcome=True) for turn in battle.turns_with_sides()]
            announce(battle, "battle.evaluated", turns=turns)
