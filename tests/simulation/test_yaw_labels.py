"""The yaw that demonstrations tell of a thing against the hand: of boxes, and of what lies on its side."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simulation.aims import Aim, relative_yaw
from simulation.environment import Environment

NOWHERE = np.zeros(3)


@pytest.fixture(scope="module")
def bench() -> Environment:
    environment = Environment("widowx", "workbench")
    environment.reset(0)
    return environment


def label(environment: Environment, name: str) -> tuple[float, float]:
    return relative_yaw(environment, Aim(name, False, NOWHERE, NOWHERE))


def lay(environment: Environment, name: str, yaw: float) -> None:
    """On its side, its axis along a yaw [rad]."""
    body = environment.model.body(name)
    address = environment.model.jnt_qposadr[body.jntadr[0]] + 3
    half, quarter = yaw / 2, np.pi / 4  # tipped about y, then turned about z
    turned = np.cos(half), np.sin(half)
    environment.data.qpos[address : address + 4] = [
        turned[0] * np.cos(quarter),
        -turned[1] * np.sin(quarter),
        turned[0] * np.sin(quarter),
        turned[1] * np.cos(quarter),
    ]
    mujoco.mj_kinematics(environment.model, environment.data)


@pytest.mark.parametrize("name", ["cup", "blue_cylinder"])
def test_what_lies_on_its_side_tells_how_its_axis_is_turned(bench: Environment, name: str) -> None:
    bench.reset(0)
    assert label(bench, name) == (0.0, 0.0)
    angles = []
    for yaw in (0.2, 0.7):
        lay(bench, name, yaw)
        angles.append(np.arctan2(*label(bench, name)) / 2)
    assert angles[1] - angles[0] == pytest.approx(0.5, abs=1e-6)


def test_both_ends_of_an_axis_are_alike(bench: Environment) -> None:
    lay(bench, "cup", 0.3)
    one = label(bench, "cup")
    lay(bench, "cup", 0.3 + np.pi)
    assert label(bench, "cup") == pytest.approx(one, abs=1e-6)


def test_a_ball_tells_no_yaw_however_it_has_rolled(bench: Environment) -> None:
    lay(bench, "green_sphere", 0.4)
    assert label(bench, "green_sphere") == (0.0, 0.0)
