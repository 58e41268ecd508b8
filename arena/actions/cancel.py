"""Stopping turns that their visitor no longer wants."""

from __future__ import annotations

from django.db import transaction

from arena.actions.announce import lock_battle, take_back_end
from arena.actions.attempts import end_cancelled
from arena.errors import NotFound, TurnSettled
from arena.live import release
from arena.models import Turn


def cancel_turn(turn: Turn) -> Turn:
    """End a turn whose end is not told yet, and with it the battle's other starts that are still to be played; raises
    TurnSettled when its end is told, NotFound when the turn is gone.

    Both sides fail alike, also those that had finished: else the visitor would learn how quick they are. Workers find
    out with their next heartbeat. Like any turn that a side failed it counts as not having been.
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
        for each in [each for each in turns if not release.told(each)]:
            end_cancelled(battle, each, turns, instead=taken_back)
            taken_back = False
        return found
