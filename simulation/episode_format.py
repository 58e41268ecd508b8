"""The episode document, and the two exact binary forms that browsers fetch after the vote. Needs numpy alone.

A document has float64 numbers, so that physics can be repeated bit for bit. The float32 form is for display: its poses
are within a tenth of a micrometre. The float64 form has everything that physics needs to go on from any record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from simulation.contracts import (
    ACTION_DIM,
    AWAKE,
    CONTROL_HZ,
    SLEEPING,
    Floats,
    Numbers,
    SimulationError,
    StartState,
)
from simulation.recorder import Recording
from simulation.view_format import CHUNK_S, VIEW_HZ, pack

FORMAT_VERSION = 2
"""In the first one nothing slept, and a document names neither `physics` nor `asleep`."""


class EpisodeFormatError(SimulationError, ValueError):
    """A document or buffer that is not an episode of this format."""


class RecordedRobot(Protocol):
    @property
    def ACTION(self) -> Numbers: ...


class RecordedController(Protocol):
    @property
    def id(self) -> str: ...


class RecordedLook(Protocol):
    @property
    def id(self) -> str: ...


class RecordedWorld(Protocol):
    @property
    def robot(self) -> RecordedRobot: ...

    @property
    def control_hz(self) -> int: ...

    @property
    def look(self) -> RecordedLook: ...

    @property
    def view_scale(self) -> Floats: ...


class Recorded(Protocol):
    """As much of a simulation.environment.Environment as a recording names."""

    engine_version: str
    scene_hash: str
    physics: int

    @property
    def world(self) -> RecordedWorld: ...

    @property
    def controller(self) -> RecordedController: ...


def made_by(environment: Recorded) -> dict[str, Any]:
    """What has to be the same for physics to be repeated."""
    return {
        "engine_version": environment.engine_version,
        "scene_hash": environment.scene_hash,
        "physics": environment.physics,
        "controller": environment.controller.id,
        "control_hz": environment.world.control_hz,
        "action_space": environment.world.robot.ACTION.id,
        "action_size": len(environment.world.robot.ACTION),
    }


def build_document(
    identity: Mapping[str, Any], recording: Recording, environment: Recorded, render_profile: str
) -> dict[str, Any]:
    """The document of a finished rollout. `identity`: `_id`, and the ids, names and versions that physics ignores."""
    result = recording.result
    if result is None or len(recording.states) != len(recording.actions) + 1:
        raise EpisodeFormatError("expected a finished recording: a start state, and a state after each action")
    view_scale, sleeps = environment.world.view_scale, environment.physics >= SLEEPING
    return {
        **identity,
        "format_version": FORMAT_VERSION,
        **made_by(environment),
        "render_profile": render_profile,
        "look": environment.world.look.id,
        "start_hash": recording.states[0].hash(environment.engine_version, environment.scene_hash),
        "actions": [action.tolist() for action in recording.actions],
        "states": [
            {"time": state.time, "qpos": state.qpos.tolist(), "qvel": state.qvel.tolist()} for state in recording.states
        ],
        "qacc_warmstart": [state.qacc_warmstart.tolist() for state in recording.states],
        "control": [state.control.tolist() for state in recording.states],
        **({"asleep": [state.asleep.astype(int).tolist() for state in recording.states]} if sleeps else {}),
        "view": pack(recording.rows(environment.world.control_hz), view_scale),
        "view_hz": VIEW_HZ,
        "view_scale": view_scale.tolist(),
        **asdict(result),
    }


def step_count(document: Mapping[str, Any]) -> int:
    return len(document["actions"])


def record_of_chunk(document: Mapping[str, Any], chunk: int) -> int:
    """The state that a visitor sees at the end of a chunk (simulation.view_format), at most the last."""
    control_hz: int = document.get("control_hz", CONTROL_HZ)
    return min(round(chunk * CHUNK_S * control_hz), step_count(document))


def physics_of(document: Mapping[str, Any]) -> int:
    """The version of physics (contracts.PHYSICS). Older documents name none: then nothing slept."""
    return int(document.get("physics", AWAKE))


def action_size(document: Mapping[str, Any]) -> int:
    """The numbers of an action. Older documents name none: theirs have seven."""
    return int(document.get("action_size", ACTION_DIM))


def state_at(document: Mapping[str, Any], index: int) -> StartState:
    """The full state after `index` actions; -1 for the last, from which a follow-up turn starts."""
    with _of_this_format():
        state = document["states"][index]
        return StartState(
            time=float(state["time"]),
            qpos=_floats(state["qpos"], 1),
            qvel=_floats(state["qvel"], 1),
            qacc_warmstart=_floats(document["qacc_warmstart"][index], 1),
            control=_floats(document["control"][index], 1),
            asleep=_floats(document["asleep"][index], 1) if "asleep" in document else np.empty(0),
        )


def actions_of(document: Mapping[str, Any]) -> Floats:
    """(steps, size of an action)."""
    with _of_this_format():
        actions, size = document["actions"], action_size(document)
        found = _floats(actions, 2) if actions != [] else np.empty((0, size))
        if found.shape[1] != size:
            raise EpisodeFormatError(f"actions: expected {size} numbers each, got {found.shape[1]}")
        return found


def to_float32(document: Mapping[str, Any]) -> bytes:
    """float32 little-endian [steps + 1, 1 + nq + nv]: time [s], qpos, qvel per control step, row by row."""
    with _of_this_format():
        rows = [[state["time"], *state["qpos"], *state["qvel"]] for state in document["states"]]
        return _floats(rows, 2).astype("<f4").tobytes()


def to_float64(document: Mapping[str, Any]) -> bytes:
    """float64 little-endian [steps + 1, 1 + nq + 2 nv + c + a + t], row by row, the start first.

    A row is time [s], qpos, qvel, qacc_warmstart, the control memory (c,) (contracts.StartState.control), the action
    (a,) that led there, the start's being zeros, and which trees sleep (t,) (contracts.StartState.asleep). The manifest
    of the scene names c and a. Before the rows stand -2 and the numbers of a row. Both, and t, are missing from
    documents of the first format, which begin with a time.
    """
    with _of_this_format():
        states = document["states"]
        actions = [[0.0] * action_size(document), *document["actions"]]
        if not len(states) == len(actions) == len(document["qacc_warmstart"]) == len(document["control"]):
            raise EpisodeFormatError(
                f"expected state, warm start and control per action, and one more; got {len(states)} states"
            )
        asleep = document.get("asleep", [()] * len(states))
        rows = [
            [state["time"], *state["qpos"], *state["qvel"], *warm, *control, *action, *trees]
            for state, warm, control, action, trees in zip(
                states, document["qacc_warmstart"], document["control"], actions, asleep, strict=True
            )
        ]
        table = _floats(rows, 2).astype("<f8")
        head = [-FORMAT_VERSION, table.shape[1]] if "asleep" in document else []
        return np.array(head, "<f8").tobytes() + table.tobytes()


def _floats(values: Any, dimensions: int) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != dimensions:
        raise EpisodeFormatError(f"expected numbers in {dimensions} dimensions, got {found.shape}")
    return found


@contextmanager
def _of_this_format() -> Iterator[None]:
    """Turn every failure to read this format into an EpisodeFormatError."""
    try:
        yield
    except EpisodeFormatError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise EpisodeFormatError(f"not an episode of format {FORMAT_VERSION}: {error!r}") from error
