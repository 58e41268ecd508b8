"""Stopping a turn that its visitor no longer wants."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from arena import release
from arena.actions.announce import lock_battle, take_back_end
from arena.actions.rollouts import close_turn
from arena.errors import NotFound, TurnSettled
from arena.models import Rollout, RolloutStatus, Turn


def cancel_turn(turn: Turn) -> Turn:
    """End a turn whose end is not told yet; raises TurnSettled when it is, NotFound when the turn is gone.

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
        ended = {
            "status": RolloutStatus.FAILED,
            "termination_reason": release.CANCELLED,
            "steps_done": 0,
            "success": None,
            "progress": None,
            "duration_ms": None,
            "finished_at": timezone.now(),
        }
        Rollout.objects.filter(turn=found).update(**ended)
        for rollout in found.rollouts.all():
            vars(rollout).update(ended)
        close_turn(battle, found, turns, instead=taken_back)
        return found
