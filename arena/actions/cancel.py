"""Stopping turns that their visitor no longer wants."""

from __future__ import annotations

from django.db import transaction

from arena.actions.announce import lock_battle, take_back_end
from arena.actions.attempts import end_cancelled
from arena.errors import NotFound, TurnSettled
from arena.live import release
from arena.models import Turn


def cancel_turn(turn: Turn) -> Turn:
    """End a turn whose end is not shown yet, and the battle's other starts that are still to be played. Raises
    TurnSettled if its end is shown, and NotFound if the turn is gone.

    Both sides fail alike, even one that had finished: the visitor must not learn which is faster. Workers find out with
    their next heartbeat. Like any failed turn, it counts as not played.
    """
    with transaction.atomic():
        battle = lock_battle(turn.battle_id)
        turns = battle.turns_with_sides()
        found = next((each for each in turns if each.turn_id == turn.turn_id), None)
        if found is None:  # withdrawn meanwhile: it could not be queued
            raise NotFound
        if release.told(found):
            raise TurnSettled
        taken_back = take_back_end(battle, turns) is not None
        unshown = [each for each in turns if not release.told(each)]
        for number, each in enumerate(unshown):
            end_cancelled(battle, each, turns, instead=taken_back and number == 0)
        return found
