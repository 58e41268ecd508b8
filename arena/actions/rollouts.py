"""One side's attempt at a turn: claimed, reported on, settled, tried again.

Only the attempt that a rollout's row names may report or settle it; what one says after it was given up is ignored.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from arena import dispatch, events
from arena.actions.announce import announce, announce_all, lock_battle
from arena.actions.line import send_next_or_leave_to_the_sweep
from arena.errors import NotRetryable, QueueUnavailable
from arena.models import Battle, BattleStatus, Rollout, RolloutStatus, Side, Turn, row_or_none
from arena.selectors import doors, turn_json, turn_status
from arena.shapes import FailureReason

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What a finished rollout's row keeps; the rest is in its episode. Times are wall milliseconds; `store_ms` is what
    keeping the episode took, after `duration_ms`.
    """

    steps: int
    success: bool
    progress: float
    termination_reason: str
    duration_ms: float
    start_hash: str
    render_ms: float | None = None
    infer_ms: float | None = None
    physics_ms: float | None = None
    store_ms: float | None = None


class RendersOtherwise(Exception):
    """The turn is rendered with another profile than this worker's, for the sake of the other side."""

    def __init__(self, model_id: str, profile: str) -> None:
        super().__init__(f"{model_id} is to be rendered by {profile}")
        self.model_id, self.profile = model_id, profile


def claim_rollout(episode_id: str, worker: str, profile: str = "") -> Rollout | None:
    """Take a queued rollout for this worker, or None: it is gone, settled, or somebody plays it already.

    `profile`: what renders there. The first of a battle says what renders for both sides; raises RendersOtherwise.
    """
    waiting = Battle.objects.filter(
        turns__rollouts__episode_id=episode_id, turns__rollouts__status=RolloutStatus.QUEUED
    )
    with transaction.atomic():
        battle = row_or_none(waiting.select_related("session").select_for_update(of=("self",)))
        _check_profile(battle, episode_id, profile)
        if battle is None or not Rollout.objects.claim(episode_id, worker):
            return None
        _keep_profile(battle, profile)
        [turn] = Rollout.objects.filter(turn__rollouts__episode_id=episode_id).select_related("model").by_turn()
        turn.battle = battle
        rollout = next(each for each in turn.rollouts.all() if each.episode_id == episode_id)
        if rollout.attempt == 1 and turn_status(turn) == "running":
            announce(battle, "rollout.started", turn_id=turn.turn_id)
        return rollout


def _check_profile(battle: Battle | None, episode_id: str, profile: str) -> None:
    if battle is not None and profile and battle.render_profile not in ("", profile):
        raise RendersOtherwise(Rollout.objects.get(episode_id=episode_id).model_id, battle.render_profile)


def _keep_profile(battle: Battle, profile: str) -> None:
    if profile and not battle.render_profile:
        battle.render_profile = profile
        Battle.objects.filter(pk=battle.pk).update(render_profile=profile)


def report_progress(rollout: Rollout, steps: int, from_step: int, frames: list[list[float]]) -> bool:
    """Say that this attempt lives and has played `steps` steps; False when it was given up and may stop.

    `frames`: rows `[time, ...qpos]` of the steps from `from_step` on. They are shown once the other side is as far.
    """
    pass_frames(rollout, from_step, frames)
    with transaction.atomic():
        battle = lock_battle(rollout.turn.battle_id)
        alive = Rollout.objects.attempt_running(rollout.episode_id, rollout.attempt)
        if not alive.update(steps_done=steps, heartbeat_at=timezone.now()):
            return False
        _release(battle, _turn_of(rollout))
        return True


def pass_frames(rollout: Rollout, from_step: int, frames: list[list[float]]) -> None:
    """Give the steps from `from_step` on to those who will show them, as `report_progress` does, and say no more."""
    if frames:
        events.pass_frames(rollout.turn.battle_id, rollout.turn_id, rollout.side, from_step, frames)


def finish_rollout(rollout: Rollout, outcome: Outcome) -> bool:
    """Settle an attempt whose episode is stored; False when the attempt was given up."""
    return _settle(
        rollout,
        status=RolloutStatus.COMPLETED,
        steps_done=outcome.steps,
        success=outcome.success,
        progress=outcome.progress,
        termination_reason=outcome.termination_reason,
        duration_ms=outcome.duration_ms,
        start_hash=outcome.start_hash,
        render_ms=outcome.render_ms,
        infer_ms=outcome.infer_ms,
        physics_ms=outcome.physics_ms,
        store_ms=outcome.store_ms,
        error="",
    )


def fail_rollout(rollout: Rollout, reason: FailureReason, story: str) -> bool:
    """Settle an attempt as failed. `reason` is told to the visitor; `story` is moderators' and may name the policy."""
    return _settle(rollout, status=RolloutStatus.FAILED, termination_reason=reason, error=story)


def refuse_rollout(rollout: Rollout, reason: FailureReason, story: str) -> bool:
    """Settle a rollout that is still queued as failed; False when somebody has taken it meanwhile."""
    with transaction.atomic():
        battle = lock_battle(rollout.turn.battle_id)
        waiting = Rollout.objects.filter(pk=rollout.pk, status=RolloutStatus.QUEUED)
        failed = {"status": RolloutStatus.FAILED, "termination_reason": reason, "error": story}
        return _settled(battle, rollout, waiting.update(finished_at=timezone.now(), **failed))


def give_up_attempt(rollout: Rollout) -> bool:
    """Put a running rollout whose worker is lost back on the queue. False when the attempt had ended after all."""
    with transaction.atomic():
        lock_battle(rollout.turn.battle_id)
        alive = Rollout.objects.attempt_running(rollout.episode_id, rollout.attempt)
        if not alive.update(status=RolloutStatus.QUEUED, worker="", heartbeat_at=timezone.now()):
            return False
        transaction.on_commit(partial(_send_or_leave_to_the_sweep, rollout))
        return True


def resend_rollout(rollout: Rollout) -> None:
    """Send a queued rollout's message again: the first may be lost. Whoever claims it first plays it."""
    Rollout.objects.filter(pk=rollout.pk, status=RolloutStatus.QUEUED).update(heartbeat_at=timezone.now())
    _send_or_leave_to_the_sweep(rollout)


def retry_rollout(rollout: Rollout) -> None:
    """Play a failed rollout once more, by a moderator's hand; raises NotRetryable and QueueUnavailable."""
    with transaction.atomic():
        battle = lock_battle(rollout.turn.battle_id)
        turns = battle.turns_with_sides()
        if battle.status != BattleStatus.ONGOING or turns[-1].turn_id != rollout.turn_id:
            raise NotRetryable
        failed = Rollout.objects.filter(pk=rollout.pk, status=RolloutStatus.FAILED)
        if not failed.update(
            status=RolloutStatus.QUEUED,
            worker="",
            heartbeat_at=timezone.now(),
            finished_at=None,
            termination_reason="",
            error="",
        ):
            raise NotRetryable
        Turn.objects.filter(turn_id=rollout.turn_id).update(settled_at=None)
        turns = battle.turns_with_sides()
        transaction.on_commit(partial(dispatch.play, {rollout.episode_id: rollout.model_id}))
        announce(battle, "turn.opened", turn=turn_json(turns[-1], show_outcome=False), battle=doors(battle, turns))


def _settle(rollout: Rollout, **columns: Any) -> bool:
    with transaction.atomic():
        battle = lock_battle(rollout.turn.battle_id)
        alive = Rollout.objects.attempt_running(rollout.episode_id, rollout.attempt)
        return _settled(battle, rollout, alive.update(finished_at=timezone.now(), **columns))


def _settled(battle: Battle, rollout: Rollout, changed: int) -> bool:
    """What follows from a side's end; False when nothing had `changed`. The caller holds the battle's lock."""
    if not changed:
        return False
    turns = battle.turns_with_sides()
    turn = next(each for each in turns if each.turn_id == rollout.turn_id)
    _release(battle, turn)
    if all(side.settled for side in turn.rollouts.all()):
        close_turn(battle, turn, turns)
    return True


def _turn_of(rollout: Rollout) -> Turn:
    """Its turn with both sides, as they are now: one query."""
    [turn] = Rollout.objects.filter(turn__turn_id=rollout.turn_id).by_turn()
    return turn


def _release(battle: Battle, turn: Turn) -> None:
    """Let browsers show as many steps as both sides have played; a side that has ended holds nobody back."""
    sides = list(turn.rollouts.all())
    if any(side.started_at is None for side in sides):
        return
    playing = [side.steps_done for side in sides if not side.settled]
    steps = min(playing) if playing else max(side.steps_done for side in sides)
    if steps <= turn.released_steps:
        return
    from_step = turn.released_steps + 1 if turn.released_steps else 0
    turn.released_steps = steps
    turn.save(update_fields=["released_steps"])
    announce(battle, "rollout.frames", turn_id=turn.turn_id, from_step=from_step, to_step=steps)


def close_turn(battle: Battle, turn: Turn, turns: list[Turn]) -> None:
    """Both sides have settled: tell how, left first, both at once. `turns`: the battle's, this one among them."""
    turn.settled_at, turn.caller = timezone.now(), ""
    turn.save(update_fields=["settled_at", "caller"])
    transaction.on_commit(partial(send_next_or_leave_to_the_sweep, battle.session))
    sides = {Side(side.side): side for side in turn.rollouts.all()}
    finished = {
        "turn_id": turn.turn_id,
        "status": turn_status(turn),
        "battle": doors(battle, turns),
        "turn": turn_json(turn, show_outcome=True) if turn.exploration else None,
    }
    announce_all(battle, _end_of(sides[Side.LEFT]), _end_of(sides[Side.RIGHT]), ("turn.finished", finished))


def _end_of(rollout: Rollout) -> tuple[str, dict[str, Any]]:
    """The event that tells how a side ended: its type and its fields."""
    about: dict[str, Any] = {"turn_id": rollout.turn_id, "side": str(rollout.side), "steps": rollout.steps_done}
    if rollout.status == RolloutStatus.FAILED:
        return "rollout.failed", {**about, "reason": rollout.termination_reason}
    url = f"/api/episodes/{rollout.episode_id}"
    return "rollout.finished", {**about, "episode_id": rollout.episode_id, "url": url}


def _send_or_leave_to_the_sweep(rollout: Rollout) -> None:
    try:
        dispatch.play({rollout.episode_id: rollout.model_id})
    except QueueUnavailable:
        log.warning("The queue is down; a later sweep sends %s again", rollout.episode_id)
