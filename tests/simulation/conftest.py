"""One environment for the tests of a process: physics is reset by each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from simulation import assets, catalogue
from simulation.cameras import render_profile
from simulation.contracts import Actor
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.expert import ScriptedExpert
from simulation.recorder import Recorder
from simulation.runner import run_episode
from simulation.worlds import forget_worlds

Record = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def _environment() -> Environment:
    return Environment("widowx", "table")


@pytest.fixture
def environment(_environment: Environment) -> Environment:
    _environment.reset(0)
    _environment.set_task(None)
    return _environment


@pytest.fixture
def record(environment: Environment) -> Record:
    """Play from the environment's present state and answer the episode document."""
    return partial(recorded, environment)


@pytest.fixture
def lose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Answers a function that takes a folder of the shipped robots' files away."""

    def lost(name: str) -> None:
        for each in Path(assets.FOLDER).iterdir():
            if each.name != name:
                (tmp_path / each.name).symlink_to(each)
        monkeypatch.setattr(assets, "FOLDER", tmp_path)
        catalogue.missing_assets.cache_clear()
        forget_worlds()

    yield lost
    monkeypatch.undo()
    catalogue.missing_assets.cache_clear()
    forget_worlds()


def recorded(
    environment: Environment, instruction: str, policy: Actor | None = None, episode_id: str = "ep_test"
) -> dict[str, Any]:
    recorder = Recorder()
    run_episode(environment, policy or ScriptedExpert(environment), instruction, 0, [recorder])
    identity = {
        "_id": episode_id,
        "attempt": 1,
        "robot_id": environment.world.robot_id,
        "scene_id": environment.world.scene_id,
        "instruction": instruction,
    }
    return build_document(identity, recorder.recording, environment, render_profile())
