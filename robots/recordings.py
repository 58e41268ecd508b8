"""Recorded episodes as the API sends them: what can be seen of them, and all of it after the vote."""

from __future__ import annotations

from typing import Any, cast

from arena import kinds
from arena.errors import SceneChanged
from arena.models import Attempt
from robots.scene_files import manifest_of
from robots.shapes import EpisodeJson
from simulation.contracts import Floats
from simulation.view_format import rounded_states, until, view_of


def episode_json(attempt: Attempt, document: dict[str, Any], common_length: int, exact: bool) -> EpisodeJson:
    outcome = kinds.of(attempt.turn).outcome(attempt)
    if exact:
        states = [{name: state[name] for name in ("time", "qpos", "qvel")} for state in document["states"]]
    else:
        states = rounded_states(*shown_view(document, common_length))
    return {
        "episode_id": attempt.episode_id,
        "turn_id": attempt.turn_id,
        "side": cast(Any, attempt.side),
        "instruction": attempt.turn.public_instruction,
        "robot_id": document["robot_id"],
        "scene_id": document["scene_id"],
        "actions": document["actions"] if exact else [],
        "states": cast(Any, states),
        "engine_version": document["engine_version"],
        "scene_hash": document["scene_hash"],
        "start_hash": outcome["start_hash"] if exact else None,
        "outcome": cast(Any, outcome) if exact else None,
        "exact": exact,
        "secret": document.get("secret") or None if exact else None,
        "render_profile": document["render_profile"] if exact else None,
    }


def shown_view(document: dict[str, Any], common_length: int) -> tuple[bytes, Floats]:
    """The packed view rows (simulation.view_format), extended to the length of the longer side, and their scale.

    For old recordings raises SceneNotBuilt if the scene's files are missing, and SceneChanged if its objects differ.
    """
    old_scale = None if "view" in document else manifest_of(document["robot_id"], document["scene_id"])["view"]["scale"]
    if old_scale is not None and len(old_scale) != len(document["states"][0]["qpos"]):
        raise SceneChanged
    content, scale = view_of(document, old_scale)
    return until(common_length, content, len(scale)), scale
