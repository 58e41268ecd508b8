"""The engine in visitors' browsers repeats what Python's has recorded, and finds out when a record was changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulation.bundle import write_scene_bundle
from simulation.contracts import Floats, Observation
from simulation.environment import Environment
from simulation.episode_format import to_float64
from simulation.expert import ScriptedExpert
from tests.replay_bin import replay_of_rows, rows_of_replay
from tests.simulation.conftest import Record

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    write_scene_bundle("widowx", "table", folder)
    return folder


class Shaken(ScriptedExpert):
    """The expert with a hand that trembles by two centimetres."""

    def __init__(self, environment: Environment, seed: int) -> None:
        super().__init__(environment)
        self._rng = np.random.default_rng(seed)

    def infer(self, observation: Observation) -> Floats:
        actions = super().infer(observation).copy()
        actions[:, :3] += self._rng.normal(size=3) * 0.02
        return actions


def checked(bundle: Path, replay: bytes) -> dict[str, Any]:
    """What the browser's engine says of a recording, asked under Node."""
    (bundle.parent / "replay.bin").write_bytes(replay)
    command = ["../scripts/with_node.sh", "node", "tools/check-episode.mjs", bundle, bundle.parent / "replay.bin"]
    done = subprocess.run(command, cwd=ROOT / "frontend", capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_a_grasped_and_carried_cube_is_repeated_to_the_last_bits(bundle: Path, record: Record) -> None:
    found = checked(bundle, to_float64(record("put the red cube on the left plate")))
    assert found["verdict"] == "same"
    assert found["step"] < 1e-12
    assert found["whole"] < 1e-4
    assert found["touch"]["object"] == found["grasp"]["object"] == "red_cube"
    assert found["touch"]["time"] <= found["grasp"]["time"]


@pytest.mark.parametrize("seed", [102, 103])
def test_an_arm_that_fumbles_with_the_cylinder_is_not_called_a_liar(
    bundle: Path, record: Record, environment: Environment, seed: int
) -> None:
    """A cylinder's contacts are found by iteration, so rounding can grow to millimetres in a step; see
    decision: episodes."""
    environment.reset(seed)
    found = checked(bundle, to_float64(record("stack the blue cylinder on the red cube", Shaken(environment, seed))))
    assert found["verdict"] in {"same", "follows"}


@pytest.mark.parametrize("field", ["place", "speed", "command"])
def test_a_tampered_record_is_found_out(bundle: Path, record: Record, environment: Environment, field: str) -> None:
    model = environment.model
    table = rows_of_replay(to_float64(record("pick up the red cube")))
    free = model.joint("red_cube")
    column, by = {
        "place": (1 + int(free.qposadr[0]), 0.001),
        "speed": (1 + model.nq + int(free.dofadr[0]), 0.3),
        "command": (1 + model.nq + 2 * model.nv, 0.02),
    }[field]
    table[6, column] += by
    found = checked(bundle, replay_of_rows(table))
    assert found["verdict"] == "different"
    assert found["record"] in {6, 7}
