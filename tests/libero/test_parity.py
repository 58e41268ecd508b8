"""The arm moves as under robosuite's own controller, whose run `scripts/libero/reference.py` wrote down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulation.contracts import Floats, StartState
from simulation.environment import Environment

REFERENCE = Path(__file__).resolve().parents[2] / "build" / "libero" / "reference.json"


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return dict(json.loads(REFERENCE.read_text()))


def restored(environment: Environment, start: dict[str, Any]) -> None:
    """Go on where robosuite was."""

    def placed(values: dict[str, list[float]], kind: str, size: int) -> Floats:
        found = np.zeros(size)
        for name, numbers in values.items():
            ours = name.removesuffix("_joint0")
            ours = ours if ours in environment.world.objects else f"p/{name}"
            first = int(getattr(environment.model.joint(ours), kind)[0])
            found[first : first + len(numbers)] = numbers
        return found

    model, memory = environment.model, environment.controller.memory.copy()
    memory[3:7] = start["goal_rotation"]
    memory[14:16] = start["fingers"]
    qpos, qvel = placed(start["qpos"], "qposadr", model.nq), placed(start["qvel"], "dofadr", model.nv)
    environment.restore(StartState(0.0, qpos, qvel, np.zeros(model.nv), memory))


def test_a_hundred_random_actions_bring_the_arm_to_the_same_joints(reference: dict[str, Any]) -> None:
    environment = Environment("panda", reference["scene"])
    environment.reset(0)
    restored(environment, reference["start"])
    arm = [int(environment.model.joint(f"p/robot0_joint{number}").qposadr[0]) for number in range(1, 8)]
    far = 0.0
    for action, wanted in zip(reference["actions"], reference["joints"], strict=True):
        environment.step(np.array(action))
        far = max(far, float(np.abs(environment.data.qpos[arm] - wanted).max()))
    assert len(reference["actions"]) == 100
    assert np.ptp(np.array(reference["joints"]), axis=0).max() > 0.2  # the arm went somewhere
    assert far < 1e-6
