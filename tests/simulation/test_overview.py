"""The viewer's first view never hides or cuts off the gripper or the object, whatever the robot does."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from simulation import catalogue
from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.expert import act
from simulation.worlds.table import OBJECTS, TARGETS
from simulation.worlds.widowx import WORKSPACE

CAMERAS = Path(__file__).parents[2] / "frontend" / "src" / "viewer" / "cameras.js"
ASPECT = 4 / 3
STEPS, EVERY = 45, 3
VISIBLE = [1, 1, 1, 0, 0, 0]
"""The geom groups that the viewer draws."""
ALONE = [0, 0, 0, 0, 0, 1]
AROUND = np.array(list(itertools.product((-0.012, 0.0, 0.012), repeat=3)))
"""Offsets [m] of points of an object or a finger tip, as seen from any side."""


class Lens:
    def __init__(self) -> None:
        found = re.search(r"OVERVIEW = \{ pos: \[(.+?)\], target: \[(.+?)\], fovy: ([\d.]+) \}", CAMERAS.read_text())
        assert found, "cameras.js says OVERVIEW in another way"
        self.position, target = (np.array([float(number) for number in text.split(",")]) for text in found.groups()[:2])
        self.scale = np.tan(np.deg2rad(float(found[3])) / 2)
        ahead = (target - self.position) / np.linalg.norm(target - self.position)
        right = np.cross(ahead, [0, 0, 1]) / np.linalg.norm(np.cross(ahead, [0, 0, 1]))
        self.axes = np.stack([right, np.cross(right, ahead), ahead])

    def project(self, points: Floats) -> Floats:
        """Where points (n, 3) [m] are in the picture (n, 2): -1 to 1 from left to right and from bottom to top."""
        local = (np.atleast_2d(points) - self.position) @ self.axes.T
        seen: Floats = local[:, :2] / local[:, 2:] / self.scale / [ASPECT, 1]
        return seen


@pytest.fixture(scope="module")
def lens() -> Lens:
    return Lens()


@pytest.fixture(scope="module")
def states() -> list[tuple[str, NDArray[np.float64]]]:
    """Named object and positions, all through the expert's episodes: every task, two seeds each."""
    environment, found = Environment("widowx", "table"), []
    here = [task for task in catalogue.suggested_tasks() if task.scene_id == "table"]
    tasks = [(task.id, dict(slots)) for task in here for slots in task.slots]
    for number, (task, slots) in enumerate(tasks):
        for seed in (number, 1000 + number):
            environment.reset(seed)
            goal = environment.set_instruction(catalogue.phrasings(task, slots)[0].text)
            for step in range(STEPS):
                environment.step(act(environment, goal))
                if step % EVERY == 0:
                    found.append((slots["object"], environment.data.qpos.copy()))
    return found


class Look:
    """One state, and what is in the way of whoever looks at it."""

    def __init__(self, position: Floats) -> None:
        self.model = Environment("widowx", "table").world.compile()
        self.data = mujoco.MjData(self.model)
        self.position = position
        geoms = range(self.model.ngeom)
        self.fingers = {geom for geom in geoms if "finger" in self._body(geom) and self.model.geom_group[geom] < 3}
        self.pads = [geom for geom in geoms if "pad" in self.model.geom(geom).name]

    def show(self, qpos: Floats) -> None:
        self.data.qpos[:] = qpos
        mujoco.mj_kinematics(self.model, self.data)

    def tips(self) -> Floats:
        return np.concatenate([self.data.geom_xpos[pad] + AROUND for pad in self.pads])

    def share(self, geoms: set[int], points: Floats) -> float:
        """How much of the geoms' outline among these points nothing else hides."""
        groups = self.model.geom_group.copy()
        self.model.geom_group[list(geoms)] = 5
        outline = [point for point in points if self._first(point, ALONE) in geoms]
        self.model.geom_group[:] = groups
        assert outline
        return sum(self._first(point, VISIBLE) in geoms for point in outline) / len(outline)

    def _first(self, point: Floats, groups: list[int]) -> int:
        met, ray = np.array([-1], dtype=np.int32), (point - self.position) / np.linalg.norm(point - self.position)
        mujoco.mj_ray(self.model, self.data, self.position, ray, np.array(groups, dtype=np.uint8), 1, -1, met)
        return int(met[0])

    def _body(self, geom: int) -> str:
        return str(self.model.body(self.model.geom_bodyid[geom]).name)


@pytest.fixture(scope="module")
def look(lens: Lens) -> Look:
    return Look(lens.position)


def test_fingers_objects_and_plates_are_inside_the_picture_all_through_every_task(
    lens: Lens, look: Look, states: list[tuple[str, NDArray[np.float64]]]
) -> None:
    for _, qpos in states:
        look.show(qpos)
        things = [look.data.body(name).xpos + AROUND * 2 for name in (*OBJECTS, *TARGETS)]
        assert np.abs(lens.project(np.concatenate([look.tips(), *things]))).max() < 0.95


def test_every_place_that_the_tool_may_reach_is_inside_the_picture(lens: Lens) -> None:
    corners = np.array(list(itertools.product(*WORKSPACE.T)))
    assert np.abs(lens.project(corners)).max() < 1


def test_the_named_object_is_never_hidden(look: Look, states: list[tuple[str, NDArray[np.float64]]]) -> None:
    shares = []
    for name, qpos in states:
        look.show(qpos)
        shares.append(look.share({look.model.geom(name).id}, look.data.body(name).xpos + AROUND))
    assert min(shares) > 0.1  # between the fingers; what is held is seen at its sides
    assert np.mean(shares) > 0.85


def test_the_fingers_are_never_hidden(look: Look, states: list[tuple[str, NDArray[np.float64]]]) -> None:
    shares = []
    for _, qpos in states:
        look.show(qpos)
        shares.append(look.share(look.fingers, look.tips()))
    assert min(shares) > 0.4


def test_the_left_plate_is_on_the_left(lens: Lens, look: Look, states: list[tuple[str, NDArray[np.float64]]]) -> None:
    for _, qpos in states[::15]:
        look.show(qpos)
        left, right = (lens.project(look.data.body(name).xpos)[0, 0] for name in TARGETS)
        assert left < right - 0.15
