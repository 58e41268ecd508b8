"""Plays one side of a turn: runs the policy, stores the episode, then settles the row. For workers only."""

from __future__ import annotations

import logging
import time
from contextlib import closing
from functools import cache
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from structlog.contextvars import bound_contextvars

from arena import actions
from arena.actions import Ending
from arena.documents import identity
from arena.errors import QueueUnavailable
from arena.models import Attempt, Side
from arena.queue import dispatch, hosting
from arena.queue.retry import retry_while_busy
from arena.queue.sweeps import worker_name
from arena.rules import goes_on, starts_from
from arena.shapes import FailureReason
from arena.store import EpisodeSuperseded, StoreUnavailable, get_store
from policies.base import PolicyError
from policies.memory import OutOfMemory, is_out_of_memory
from policies.models import Policy
from policies.policy_cache import PolicyCache
from robots import published_tasks
from robots.limits import limits_of
from robots.models import Rollout
from robots.progress import AttemptGivenUp, Reporter
from robots.runtime import WorkerRuntime, note_trouble, open_before_fork, preload
from simulation import additions, catalogue
from simulation.contracts import PolicyFailure, PolicyTooSlow, SimulationError
from simulation.environment import Environment
from simulation.episode_format import build_document, record_of_chunk, state_at
from simulation.recorder import Recorder
from simulation.trimming import trim
from simulation.variation import Variation, chance_of, variation_of
from simulation.view_format import chunks_in

log = logging.getLogger(__name__)


class StartMissing(SimulationError):
    """The episode from which this turn goes on is not in the store."""

    code = "start_missing"


def play(episode_id: str) -> None:
    """Play a queued rollout to its end and settle it. A duplicate or late message does nothing."""
    profile = runtime().render_profile
    try:
        rollout = retry_while_busy(lambda: actions.claim_attempt(episode_id, worker_name(), profile))
    except actions.RendersOtherwise as other:
        log.info("%s: %s", episode_id, other)
        try:
            dispatch.send_to_workers(
                {episode_id: other.model_id}, other.profile
            )  # to the workers that render like that
        except QueueUnavailable:
            log.warning("The queue is down; a later sweep sends %s again", episode_id)
        return
    if rollout is None:
        log.info("%s cannot be claimed", episode_id)
        return
    with bound_contextvars(**_log_ids(rollout)):
        _play_claimed(rollout)


def _play_claimed(rollout: Attempt) -> None:
    published_tasks.refresh()
    try:
        with additions.as_of(rollout.turn.created_at):
            ending, details = _play_side(rollout, runtime())
    except (AttemptGivenUp, EpisodeSuperseded) as reason:
        log.warning("%s", reason)
    except PolicyTooSlow as failure:
        _fail(rollout, "timeout", failure.reason)
    except PolicyFailure as failure:
        too_late = isinstance(failure.__cause__, SoftTimeLimitExceeded)
        _fail(rollout, "timeout" if too_late else "policy_failed", _story(failure))
    except PolicyError as failure:
        _cannot_open(rollout, failure)
    except SoftTimeLimitExceeded:
        _fail(rollout, "timeout", "the task's time limit was reached")
    except Exception as error:  # the task's edge: the turn must settle with a reason
        log.exception("%s failed", rollout.episode_id)
        _fail(rollout, "internal", _story(error))
    else:
        log.info("%s: %s", rollout.episode_id, ending.termination_reason, extra={"ms": round(ending.duration_ms)})
        if not retry_while_busy(lambda: actions.finish_attempt(rollout, ending, lambda: _keep(details))):
            log.warning("%s: attempt %s was given up before its end", rollout.episode_id, rollout.tries)


def prepare_process() -> None:
    """Open the policies and scenes that this worker process will play, and make the store's indexes."""
    published_tasks.refresh_if_possible()
    hosted = [each for each in hosting.hosted() if isinstance(each, Policy) and hosting.is_to_be_opened(each)]
    preload(runtime(), hosted, catalogue.playable())
    try:
        get_store().ensure_indexes()
    except StoreUnavailable:
        log.warning("The episode store does not answer yet; its indexes are made with the first episode")
    trim()


@cache
def runtime() -> WorkerRuntime:
    return WorkerRuntime(cache=_shared.pop() if _shared else None)


def share(policies: list[Policy]) -> None:
    """Open policies and scenes before this worker forks. Each process goes on with what was open then."""
    published_tasks.refresh_if_possible()
    _shared[:] = [open_before_fork(policies, catalogue.playable())]


_shared: list[PolicyCache] = []


def _play_side(rollout: Attempt, runtime: WorkerRuntime) -> tuple[Ending, Rollout]:
    session, policy = rollout.turn.battle.session, rollout.model.policy
    environment = runtime.environment(session.setting, session.scene)
    recorder = Recorder()
    playing = closing(runtime.player(policy, session.setting, session.scene))
    with Reporter(rollout, environment.world.view_scale, environment.world.control_hz) as reporter, playing as player:
        _set_start(environment, rollout)
        try:
            result = player.play(
                environment,
                rollout.turn.instruction,
                chance_of(rollout.turn.battle.secret, rollout.turn.seed),
                listeners=(recorder, reporter),
                limits=limits_of(rollout.turn.instruction, session.scene, environment.world.control_hz),
            )
        except PolicyFailure as failure:
            _drop_failed(runtime, policy, failure)
            raise
        document = build_document(
            _identity(rollout, environment.variation),
            recorder.recording,
            environment,
            runtime.render_profile,
        )
        began = time.perf_counter()
        retry_while_busy(lambda: get_store().save(document))
        store_ms = (time.perf_counter() - began) * 1e3
    ending = Ending(
        length=chunks_in(result.steps, environment.world.control_hz),
        termination_reason=result.termination_reason,
        duration_ms=result.duration_ms,
        success=result.success,
        progress=result.progress,
    )
    details = Rollout(
        attempt_id=rollout.episode_id,
        start_hash=document["start_hash"],
        render_ms=result.render_ms,
        infer_ms=result.infer_ms,
        physics_ms=result.physics_ms,
        store_ms=store_ms,
    )
    return ending, details


def _drop_failed(runtime: WorkerRuntime, policy: Policy, failure: PolicyFailure) -> None:
    """Close a policy that failed, unless the instruction was at fault. Without memory it can play no more."""
    if isinstance(failure.__cause__, PolicyError):
        return
    runtime.drop(policy)
    if is_out_of_memory(failure.__cause__):
        note_trouble(policy, OutOfMemory(f"ran out of memory while it played: {failure.__cause__}"))


def _cannot_open(rollout: Attempt, failure: PolicyError) -> None:
    """Leave the rollout to another worker that can play it. Where there is none, it has failed."""
    note_trouble(rollout.model, failure)
    if rollout.tries < settings.ROLLOUT_MAX_ATTEMPTS and hosting.can_play_elsewhere(
        rollout.model, rollout.turn.battle.render_profile
    ):
        if actions.give_up_attempt(rollout):
            log.warning("%s cannot be opened here: leaving %s to another", rollout.model_id, rollout.episode_id)
        return
    _fail(rollout, "policy_failed", f"cannot be opened: {failure}")


def _set_start(environment: Environment, rollout: Attempt) -> None:
    """Put the environment into the turn's start state: the seed's first state, the end of this side's last turn that
    both sides completed, or, for a fork, the chosen record, with things moved. The battle's secret sets the looks.
    """
    turn = rollout.turn
    environment.set_variation(variation_of(turn.battle.secret))
    environment.reset(turn.seed)  # also where it goes on: what the seed left out is not judged
    _go_on(environment, rollout)
    for name, place in (turn.fork_changes or {}).get("moved", {}).items():
        environment.move(name, *place)


def _go_on(environment: Environment, rollout: Attempt) -> None:
    """Restore the record from which the turn goes on, if it does."""
    turn = rollout.turn
    before = starts_from(turn, turn.battle.turns_with_sides()) if goes_on(turn) else None
    if before is None:
        return
    episodes, record = before
    episode_id = episodes[Side(rollout.side)]
    document = retry_while_busy(lambda: get_store().get(episode_id))
    if document is None:
        raise StartMissing(f"{episode_id}, in whose recording this turn starts, is not in the store")
    environment.restore(state_at(document, record_of_chunk(document, record)))


def _log_ids(rollout: Attempt) -> dict[str, str]:
    """The ids in this attempt's log lines. They are for operators, so they name the policy."""
    turn = rollout.turn
    ids = {"battle_id": turn.battle_id, "turn_id": turn.turn_id, "episode_id": rollout.episode_id}
    return {**ids, "policy": rollout.model_id, **({"request_id": turn.request_id} if turn.request_id else {})}


def _identity(rollout: Attempt, variation: Variation) -> dict[str, Any]:
    """The part of an episode's document that says where it belongs; the rest is physics."""
    turn, battle, session = rollout.turn, rollout.turn.battle, rollout.turn.battle.session
    return {
        **identity(rollout),
        "battle_seq_in_session": battle.seq_in_session,
        "policy_revision": rollout.model.revision,
        "robot_id": session.setting,
        "scene_id": session.scene,
        "seed": turn.seed,
        "secret": battle.secret,
        "variation": variation.to_json(),
        "exploration": turn.is_fork,
    }


def _keep(details: Rollout) -> None:
    """Save the row, in place of that of an earlier try."""
    columns = [field.name for field in Rollout._meta.concrete_fields if not field.primary_key]
    Rollout.objects.bulk_create([details], update_conflicts=True, unique_fields=["attempt"], update_fields=columns)


def _fail(rollout: Attempt, reason: FailureReason, story: str) -> None:
    log.warning("%s failed: %s (%s)", rollout.episode_id, reason, story)
    retry_while_busy(lambda: actions.fail_attempt(rollout, reason, story))


def _story(error: BaseException) -> str:
    """The error and its causes, for moderators."""
    told = f"{type(error).__name__}: {error}"
    return f"{told}; caused by {_story(error.__cause__)}" if error.__cause__ else told
