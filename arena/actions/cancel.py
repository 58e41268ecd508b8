"""Stopping a turn that its visitor no longer wants."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from arena.actions.announce import lock_battle
from arena.actions.rollouts import close_turn
from arena.errors import NotFound, TurnSettled
from arena.models import Rollout, RolloutStatus, Turn

CANCELLED = "cancelled"


def cancel_turn(turn: Turn) -> Turn:
    """End a turn of which a side is still queued or running; raises TurnSettled when both have ended, NotFound when it
    is gone.

    Both sides fail alike, also one that had finished: else the visitor would learn which of them is quicker. Workers
    find out with their next report. Like any turn that a side failed it counts as not having been.
    """
    with transaction.atomic():
        battle = lock_battle(turn.battle_id)
        turns = battle.turns_with_sides()
        found = next((each for each in turns if each.turn_id == turn.turn_id), None)
        if found is None:  # withdrawn meanwhile: it could not be queued
            raise NotFound
        if found.settled_at is not None:
            raise TurnSettled
        ended = {
            "status": RolloutStatus.FAILED,
            "termination_reason": CANCELLED,
            "steps_done": found.released_steps,
            "success": None,
            "progress": None,
            "duration_ms": None,
            "finished_at": timezone.now(),
        }
        Rollout.objects.filter(turn=found).update(**ended)
        for rollout in found.rollouts.all():
            vars(rollout).update(ended)
        close_turn(battle, found, turns)
        return found
