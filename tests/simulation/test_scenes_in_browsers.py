"""The engine of visitors' browsers makes of every scene what Python's makes."""

import json
import subprocess
from pathlib import Path

import mujoco
import numpy as np
import pytest

from simulation import assets
from simulation.worlds import widowx
from tests.simulation.staging import SCENES, Stage, flattened

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
STEPS = 100


@pytest.mark.parametrize("scene_id", SCENES)
def test_a_browser_shows_and_simulates_what_python_does(scene_id: str, tmp_path: Path) -> None:
    stage = Stage(scene_id).reset(4)
    (tmp_path / "scene.xml").write_text(flattened(scene_id, "")[0])
    for name, content in assets.robot_meshes(widowx.MESHES).items():
        (tmp_path / name).write_bytes(content)
    model, data = stage.model, mujoco.MjData(stage.model)
    data.qpos[:], data.ctrl[:] = stage.data.qpos, stage.data.ctrl
    state = {"qpos": data.qpos.tolist(), "ctrl": data.ctrl.tolist(), "steps": STEPS}
    (tmp_path / "state.json").write_text(json.dumps(state))
    command = ["../scripts/with_node.sh", "node", "tools/check-scene.mjs", tmp_path]
    done = subprocess.run(command, cwd=FRONTEND, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    mujoco.mj_forward(model, data)
    assert np.abs(data.geom_xpos.ravel() - theirs["start"]).max() < 1e-9
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    assert np.abs(data.geom_xpos.ravel() - theirs["end"]).max() < 1e-6
