"""One turn of two policies without a battle, a queue or a vote: both play from one start and are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.ids import new_id
from arena.store import StoreUnavailable, get_store
from policies.models import Policy
from robots.players import open_player
from simulation.cameras import render_profile
from simulation.contracts import Limits, PolicyFailure, StartState
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.recorder import Recorder
from simulation.variation import chance_of, variation_of


@dataclass(frozen=True)
class ExhibitionTurn:
    """What both sides play. `secret` varies what they see, as a battle's does; "" leaves it as it is."""

    instruction: str
    robot_id: str
    scene_id: str
    seed: int
    limits: Limits
    secret: str = ""


def play_turn(turn: ExhibitionTurn, sides: Mapping[str, Policy]) -> dict[str, dict[str, Any]]:
    """Play every side from the seed's first state. Returns a row per side, with an "error" where its policy failed.

    "stored" of a row: whether the episode store took the episode.
    """
    environment = Environment(turn.robot_id, turn.scene_id)
    start = environment.reset(turn.seed, variation_of(turn.secret))
    turn_id = new_id("turn")
    return {side: _play_side(environment, start, turn, turn_id, side, policy) for side, policy in sides.items()}


def _play_side(
    environment: Environment, start: StartState, turn: ExhibitionTurn, turn_id: str, side: str, policy: Policy
) -> dict[str, Any]:
    recorder = Recorder()
    player = open_player(policy, environment)
    environment.restore(start)
    answer: dict[str, Any] = {
        "model_id": policy.id,
        "secret": turn.secret,
        "start_hash": start.hash(environment.engine_version, environment.scene_hash),
    }
    try:
        seed = chance_of(turn.secret, turn.seed)
        result = player.play(environment, turn.instruction, seed, [recorder], turn.limits)
    except PolicyFailure as failure:
        return answer | {"error": failure.reason}
    finally:
        player.close()
    identity = {
        "_id": new_id("ep"),
        "attempt": 1,
        "battle_id": None,
        "turn_id": turn_id,
        "session_id": None,
        "side": side,
        "model_id": policy.id,
        "policy_revision": policy.revision,
        "instruction": turn.instruction,
        "robot_id": turn.robot_id,
        "scene_id": turn.scene_id,
        "seed": turn.seed,
        "secret": turn.secret,
        "variation": environment.variation.to_json(),
    }
    document = build_document(identity, recorder.recording, environment, render_profile())
    try:
        get_store().save(document)
        stored = True
    except StoreUnavailable:
        stored = False
    return answer | {
        "episode_id": document["_id"],
        "steps": result.steps,
        "success": result.success,
        "progress": None if result.progress is None else round(result.progress, 4),
        "termination_reason": result.termination_reason,
        "duration_ms": round(result.duration_ms, 1),
        "stored": stored,
    }
