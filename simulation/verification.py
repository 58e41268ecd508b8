"""Playing a stored episode again with the same start and actions, and comparing every bit of every state.

No policy infers again, so that what they saw makes no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from simulation import catalogue
from simulation.catalogue_rows import CatalogueError
from simulation.contracts import AWAKE, PHYSICS, SpecError, StartState
from simulation.environment import Environment, StateMismatch
from simulation.episode_format import actions_of, made_by, physics_of, state_at, step_count
from simulation.matching import Meaning
from simulation.runner import Score
from simulation.variation import Variation
from simulation.view_format import pack, rows_of

NEEDED = (
    *("robot_id", "scene_id", "engine_version", "scene_hash", "start_hash", "instruction"),
    *("actions", "states", "qacc_warmstart", "control", "success", "progress", "total_reward"),
)


@dataclass(frozen=True)
class ReplayDifference:
    """The first difference from the recording. `first_step` counts actions; 0 is the start."""

    first_step: int
    reason: str


def verify_document(document: Mapping[str, Any]) -> ReplayDifference | None:
    """None if the recorded actions give the recorded states and outcome, bit for bit."""
    missing = [name for name in NEEDED if name not in document]
    if missing:
        return ReplayDifference(0, f"the document has no {', '.join(missing)}")
    physics = physics_of(document)
    if not AWAKE <= physics <= PHYSICS:
        return ReplayDifference(0, f"recorded with physics {physics}, here it is {AWAKE} to {PHYSICS}")
    per_state = [name for name in ("states", "qacc_warmstart", "control", "asleep") if name in document]
    if any(len(document[name]) != step_count(document) + 1 for name in per_state):
        return ReplayDifference(0, f"expected {step_count(document) + 1} states for {step_count(document)} actions")
    variant = (document.get("variation") or {}).get("variant", "")
    environment = _environment(document["robot_id"], document["scene_id"], variant, physics)
    for name, here in made_by(environment).items():
        if document.get(name, here) != here:  # older documents name less
            return ReplayDifference(0, f"recorded with {name} {document[name]}, here it is {here}")
    start = state_at(document, 0)
    if start.hash(environment.engine_version, environment.scene_hash) != document["start_hash"]:
        return ReplayDifference(0, "the start state does not have the recorded hash")
    try:
        environment.restore(start)
        environment.set_task(_meaning(document))
        return _replay(environment, document)
    except (SpecError, StateMismatch, CatalogueError) as error:
        return ReplayDifference(0, str(error))


def _meaning(document: Mapping[str, Any]) -> Meaning | None:
    """What the instruction was understood as when it was played. Older recordings do not say it: then only the first
    three tasks were judged, and their exact wordings alone.
    """
    if "task_id" in document:
        return (document["task_id"], dict(document["slots"])) if document["task_id"] else None
    return catalogue.first_meaning(document["instruction"])


def _replay(environment: Environment, document: Mapping[str, Any]) -> ReplayDifference | None:
    hz = environment.world.control_hz
    score, between = Score(environment.hold_steps), []
    for step, action in enumerate(actions_of(document), 1):
        outcome = environment.step(action)
        score.add(outcome.judgement)
        between.append(outcome.between)
        different = first_difference(state_at(document, step), environment.state())
        if different is not None:
            return ReplayDifference(step, f"{different} differs")
    for name, value in _judged(environment, score, document).items():
        if document[name] != value:
            return ReplayDifference(step_count(document), f"recorded {name} {document[name]}, judged {value}")
    rows = rows_of(state_at(document, 0).qpos, between, state_at(document, -1).qpos, hz)
    if "view" in document and document["view"] != pack(rows, environment.world.view_scale):
        return ReplayDifference(0, "what was shown before the vote is not what was recorded")
    return None


def _judged(environment: Environment, score: Score, document: Mapping[str, Any]) -> dict[str, Any]:
    """What the document should say. Free text has no verdict; older recordings of it say that nothing was reached."""
    if environment.goal is None and document["success"] is None:
        return {"success": None, "progress": None, "total_reward": score.total_reward}
    return {"success": score.complete, "progress": score.progress, "total_reward": score.total_reward}


def first_difference(one: StartState, other: StartState) -> str | None:
    """The name of the first field that is not the same bit for bit."""
    for field in fields(StartState):
        mine, yours = (np.asarray(getattr(state, field.name), dtype="<f8").tobytes() for state in (one, other))
        if mine != yours:
            return field.name
    return None


@cache
def _environment(robot_id: str, scene_id: str, variant: str, physics: int) -> Environment:
    return Environment(robot_id, scene_id, Variation(variant=variant), physics)
