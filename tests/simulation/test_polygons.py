"""Meshes that touch things do so alike here and in browsers, whose engine lists their faces in another order."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from simulation.polygons import polygon_orders
from simulation.worlds import load_world

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
STEPS = 300


def vertices() -> str:
    """Of a pebble."""
    points = np.random.default_rng(1).normal(size=(60, 3))
    points /= 20 * np.linalg.norm(points, axis=1, keepdims=True)
    return "  ".join(f"{x:.6f} {y:.6f} {z:.6f}" for x, y, z in points)


XML = f"""<mujoco>
  <option cone="elliptic" impratio="20"/>
  <asset><mesh name="pebble" vertex="{vertices()}"/><mesh name="seen" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>
  <worldbody>
    <geom type="box" size="0.04 0.04 0.02" pos="0.01 0 0"/>
    <geom type="mesh" mesh="seen" contype="0" conaffinity="0"/>
    <body name="one" pos="0 0 0.08"><freejoint/><geom type="mesh" mesh="pebble"/></body>
    <body name="other" pos="0.015 0.01 0.19"><freejoint/><geom type="mesh" mesh="pebble"/></body>
  </worldbody>
</mujoco>"""


def in_browsers(folder: Path, model: mujoco.MjModel, polygons: dict[str, list[int]]) -> dict[str, Any]:
    """Where the geoms lie in a browser's engine [m], and the vertices of its polygons."""
    state = {"qpos": model.qpos0.tolist(), "ctrl": [], "steps": STEPS, "polygons": polygons}
    (folder / "scene.xml").write_text(XML)
    (folder / "state.json").write_text(json.dumps(state))
    command = ["../scripts/with_node.sh", "node", "tools/check-scene.mjs", folder]
    done = subprocess.run(command, cwd=FRONTEND, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(XML)


def test_browsers_list_the_faces_as_the_engine_here_and_meshes_lie_alike(model: mujoco.MjModel, tmp_path: Path) -> None:
    assert in_browsers(tmp_path, model, {})["polygons"] != model.mesh_polyvert.tolist(), "no order is needed"
    found = in_browsers(tmp_path, model, polygon_orders(model))
    shown = slice(int(model.mesh_polyvertnum[: model.mesh_polynum[0]].sum()))
    assert found["polygons"][shown] == model.mesh_polyvert[shown].tolist()
    data = mujoco.MjData(model)
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    assert np.abs(data.geom_xpos.ravel() - found["end"]).max() < 1e-6


def test_an_order_names_each_face_of_a_mesh_that_touches_things(model: mujoco.MjModel) -> None:
    orders = polygon_orders(model)
    assert list(orders) == ["pebble"]
    assert sorted(orders["pebble"]) == list(range(model.mesh_polynum[0]))


def test_worlds_of_boxes_and_cylinders_need_none() -> None:
    assert polygon_orders(load_world("widowx", "table").model) == {}
    assert polygon_orders(load_world("ur5e", "warehouse").model) == {}
