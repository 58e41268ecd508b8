"""How the Panda's expert reads drawers, knobs and rims off a scene, in a small scene of its own."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simulation.goals.benchmark import Past
from simulation.panda_rims import best_rim
from simulation.panda_ways import (
    APART_M,
    CLOSE,
    OPEN,
    Leg,
    Way,
    axes,
    closed_drawer,
    joint_way,
    nearer,
    rotation_between,
)

SCENE = """
<mujoco><worldbody>
  <body name="robot" pos="-2 0 0"><site name="p/gripper0_grip_site"/><geom type="sphere" size="0.01"/></body>
  <body name="cabinet" pos="0 -0.3 0">
    <geom type="box" size="0.1 0.1 0.2"/>
    <body name="drawer" pos="0 0 0.1">
      <joint name="drawer" type="slide" axis="0 1 0" range="-0.01 0.16"/>
      <geom type="box" size="0.1 0.1 0.02"/>
      <geom name="handle" type="box" size="0.04 0.008 0.008" pos="0 0.12 0.01"/>
      <site name="inside" type="box" size="0.05 0.05 0.02"/>
    </body>
  </body>
  <body name="stove" pos="0.5 0.5 0">
    <joint name="knob" type="hinge" axis="0 0 1" range="0 2"/>
    <geom type="cylinder" size="0.05 0.01"/>
    <geom type="box" size="0.04 0.01 0.02" pos="0 0 0.03"/>
  </body>
  <body name="bowl" pos="0 0.5 0.03"><freejoint/><geom type="box" size="0.06 0.06 0.03"/></body>
  <body name="wall" pos="0 0.59 0.2"><geom type="box" size="0.5 0.02 0.2"/></body>
</worldbody></mujoco>
"""
BOWL = np.array([[x, 0.5 + y, 0.03 + z] for x in (-0.06, 0.06) for y in (-0.06, 0.06) for z in (-0.03, 0.03)])


@pytest.fixture
def world() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_a_drawer_is_pulled_by_its_handle_a_little_farther_than_its_goal(
    world: tuple[mujoco.MjModel, mujoco.MjData],
) -> None:
    legs = joint_way(*world, Past("drawer", 0.14)).legs
    handle = np.array([0.0, -0.18, 0.11])
    closes = next(number for number, leg in enumerate(legs) if leg.grip == CLOSE)
    np.testing.assert_allclose(legs[closes].spot, handle, atol=1e-9)
    pulled = legs[closes + 1].spot - handle
    assert pulled[1] == pytest.approx(0.16)
    assert abs(pulled[[0, 2]]).max() < 1e-9
    fingers, points = legs[closes].rotation[:, 0], legs[closes].rotation[:, 2]
    assert abs(fingers[2]) > 0.9, "one finger above the bar, one below"
    assert points[1] < -0.9, "the hand points at the cabinet"
    assert np.linalg.norm(legs[closes - 2].spot - handle) == pytest.approx(APART_M)
    assert legs[-1].grip == OPEN


def test_a_drawer_that_is_open_far_enough_needs_no_opening(world: tuple[mujoco.MjModel, mujoco.MjData]) -> None:
    model, data = world
    due = closed_drawer(model, data, "inside")
    assert due is not None
    assert (due.joint, due.side) == ("drawer", "above")
    data.joint("drawer").qpos = due.value
    assert closed_drawer(model, data, "inside") is None


def test_a_knob_is_held_across_its_bar_and_turned_past_its_goal(world: tuple[mujoco.MjModel, mujoco.MjData]) -> None:
    legs = joint_way(*world, Past("knob", 0.5)).legs
    first = next(leg for leg in legs if leg.grip == CLOSE)
    last = [leg for leg in legs if leg.grip == CLOSE][-1]
    assert abs(first.rotation[1, 0]) == pytest.approx(1.0)
    np.testing.assert_allclose(first.spot[:2], [0.5, 0.5])
    turn = rotation_between(first.rotation, last.rotation)
    np.testing.assert_allclose(turn[:2], 0.0, atol=1e-6)
    assert 0.5 < turn[2] < 1.0


def test_a_rim_is_taken_where_the_hand_has_room_and_of_places_that_are_as_good_the_nearer_one(
    world: tuple[mujoco.MjModel, mujoco.MjData],
) -> None:
    model, data = world
    bowl = [int(model.body("bowl").id)]
    way, bowls_middle = np.array([0.0, -0.2, 0.0]), (BOWL[:, :2].max(0) + BOWL[:, :2].min(0)) / 2
    spot, yaw = best_rim(model, data, bowl, BOWL, 0.05, way, np.array([0.5, 0.9, 0.3]))
    assert spot[1] < 0.5, "away from the wall"
    assert abs(yaw) <= np.pi / 2
    far = np.array([5.0, 0.0, 0.0])  # where nothing else stands
    sides = [
        best_rim(model, data, bowl, BOWL + far, 0.05, way, np.array([*bowls_middle, 0.3]) + far + [0.0, aside, 0.0])[0]
        for aside in (-0.5, 0.5)
    ]
    assert sides[0][1] < bowls_middle[1] < sides[1][1]


def test_of_two_ways_to_hold_the_nearer_one_is_taken() -> None:
    down = axes(np.array([0.0, 0.0, -1.0]), np.array([1.0, 0.0, 0.0]))
    other = axes(np.array([0.0, 0.0, -1.0]), np.array([-1.0, 0.1, 0.0]))
    assert np.linalg.norm(rotation_between(down, nearer(other, down))) < 0.2
    assert np.linalg.det(down) == pytest.approx(1.0)


def test_a_leg_ends_on_arrival_but_neither_too_early_nor_too_late() -> None:
    leg = Leg(np.zeros(3), np.eye(3), OPEN, least=2, most=4)
    way = Way([leg, leg])
    assert [way.go_on(True) for _ in range(3)] == [True] * 3
    assert way.number == 1
    assert [way.go_on(False) for _ in range(5)] == [True] * 4 + [False]
