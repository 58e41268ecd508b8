"""Recorded episodes as they are told: what can be seen of them, and with the vote all of it."""

from __future__ import annotations

from typing import Any, cast

from arena import kinds
from arena.errors import SceneChanged
from arena.models import Attempt
from robots.scene_files import manifest_of
from robots.shapes import EpisodeJson, EpisodeState
from simulation.contracts import Floats
from simulation.view_format import rounded_states, until, view_of


def episode_json(attempt: Attempt, document: dict[str, Any], common_length: int, exact: bool) -> EpisodeJson:
    outcome = kinds.of(attempt.turn).outcome(attempt)
    view = None if exact else rounded_states(*shown_view(document, common_length))
    return {
        "episode_id": attempt.episode_id,
        "turn_id": attempt.turn_id,
        "side": cast(Any, attempt.side),
        "instruction": attempt.turn.instruction,
        "robot_id": document["robot_id"],
        "scene_id": document["scene_id"],
        "actions": document["actions"] if exact else [],
        "states": cast(Any, view) if view is not None else _exact_states(document),
        "engine_version": document["engine_version"],
        "scene_hash": document["scene_hash"],
        "start_hash": outcome["start_hash"] if exact else None,
        "outcome": cast(Any, outcome) if exact else None,
        "exact": exact,
        "secret": document.get("secret") or None if exact else None,
        "render_profile": document["render_profile"] if exact else None,
    }


def shown_view(document: dict[str, Any], common_length: int) -> tuple[bytes, Floats]:
    """The packed rows of what can be seen (simulation.view_format), as long as the longer side's, and their scale.

    Raises SceneNotBuilt for an old recording whose scene's files are missing, and SceneChanged where they have other
    positions.
    """
    old_scale = None if "view" in document else manifest_of(document["robot_id"], document["scene_id"])["view"]["scale"]
    if old_scale is not None and len(old_scale) != len(document["states"][0]["qpos"]):
        raise SceneChanged
    content, scale = view_of(document, old_scale)
    return until(common_length, content, len(scale)), scale


def _exact_states(document: dict[str, Any]) -> list[EpisodeState]:
    states = document["states"]
    return [{"time": state["time"], "qpos": state["qpos"], "qvel": state["qvel"]} for state in states]
