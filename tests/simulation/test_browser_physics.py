"""The engine in visitors' browsers repeats what Python's has recorded, and finds out when a record was changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulation.bundle import write_scene_bundle
from simulation.environment import Environment
from simulation.episode_format import to_float64
from tests.simulation.conftest import Record

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    write_scene_bundle("widowx", "table", folder)
    return folder


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


def test_a_cylinder_between_the_fingers_stays_within_the_bound_of_a_step(bundle: Path, record: Record) -> None:
    """Its contacts are found by iteration, so rounding grows; see decision 505."""
    found = checked(bundle, to_float64(record("stack the blue cylinder on the red cube")))
    assert found["verdict"] in {"same", "follows"}
    assert found["step"] < 1e-4


@pytest.mark.parametrize("field", ["place", "speed", "command"])
def test_a_tampered_record_is_found_out(bundle: Path, record: Record, environment: Environment, field: str) -> None:
    model = environment.model
    row = 1 + model.nq + 2 * model.nv + 14 + 7
    table = np.frombuffer(to_float64(record("pick up the red cube")), "<f8").reshape(-1, row).copy()
    free = model.joint("red_cube")
    column, by = {
        "place": (1 + int(free.qposadr[0]), 0.001),
        "speed": (1 + model.nq + int(free.dofadr[0]), 0.3),
        "command": (1 + model.nq + 2 * model.nv, 0.02),
    }[field]
    table[6, column] += by
    found = checked(bundle, table.tobytes())
    assert found["verdict"] == "different"
    assert found["record"] in {6, 7}
