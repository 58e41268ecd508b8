"""Every kind of controller: what its actions do to the command, and that its memory is all that it remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest

from simulation import assets
from simulation.contracts import Floats, SpecError
from simulation.control.joints import JointPositions, JointVelocities
from simulation.control.kinematics import Arm
from simulation.control.motors import Gripper, Motor, Ramp
from simulation.control.together import Together
from simulation.control.tool_pose import AbsolutePose, DeltaPose, Reach, ToolPose, axis_angle, euler, turned
from simulation.worlds import widowx
from simulation.worlds.plugins import Controller

PIECES = 4
RANGES = np.array([[-1.0, 1.0], [-2.0, 2.0]])
REACH = Reach(widowx.WORKSPACE, 0.05, 0.5)
HAND = Gripper(widowx.FINGER_CLOSED, widowx.FINGER_OPEN)


@pytest.fixture(scope="module")
def arm() -> Arm:
    model = widowx.build(assets.robot_meshes(widowx.MESHES)).compile()
    return Arm(model, widowx.ARM_JOINTS, "tool")


def started(controller: Any, gripper: bool = True) -> Any:
    controller.start_at(np.append(widowx.START_ARM, [widowx.FINGER_OPEN] if gripper else []))
    return controller


def delta(arm: Arm, rotation: Callable[[Floats], Floats], gripper: Gripper | None = HAND) -> DeltaPose:
    made: DeltaPose = started(
        DeltaPose("d", arm, REACH, PIECES, rotation=rotation, gripper=gripper), gripper is not None
    )
    return made


def angle(one: Floats, other: Floats) -> float:
    """Between two orientations [rad]."""
    local = np.empty(3)
    mujoco.mju_subQuat(local, one, other)
    return float(np.linalg.norm(local))


def test_a_delta_in_axis_angle_turns_about_its_axis_and_one_in_euler_by_its_angles(arm: Arm) -> None:
    turn = np.array([0.1, 0.2, 0.3])
    by_axis, by_angles = delta(arm, axis_angle), delta(arm, euler)
    before = by_axis.memory[by_axis.quaternion].copy()
    for controller in (by_axis, by_angles):
        controller.command(np.array([0.0, 0.0, 0.0, *turn, 1.0]))
    assert angle(by_axis.memory[by_axis.quaternion], turned(before, turn)) < 1e-9
    assert angle(by_angles.memory[by_angles.quaternion], turned(before, euler(turn))) < 1e-9
    assert angle(by_axis.memory[by_axis.quaternion], by_angles.memory[by_angles.quaternion]) > 0.02


def test_an_absolute_pose_is_approached_and_then_kept(arm: Arm) -> None:
    controller: AbsolutePose = started(AbsolutePose("a", arm, REACH, PIECES, gripper=HAND))
    start = controller.memory[controller.position].copy()
    wanted = start + np.array([0.02, 0.08, 0.03])
    pose = controller.still()
    pose[:3], pose[6] = wanted, 0.0
    controller.command(pose)
    assert np.linalg.norm(controller.memory[controller.position] - start) == pytest.approx(0.05)
    for _ in range(3):
        controller.command(pose)
    assert controller.memory[controller.position] == pytest.approx(wanted, abs=1e-9)
    assert controller.memory[6] == widowx.FINGER_CLOSED
    reached, quaternion = arm.tool_pose(controller.memory[controller.joints])
    assert reached == pytest.approx(wanted, abs=2e-4)
    assert angle(quaternion, controller.memory[controller.quaternion]) < 2e-3


def test_an_absolute_orientation_is_reached_by_turns_of_half_a_radian(arm: Arm) -> None:
    controller: AbsolutePose = started(AbsolutePose("a", arm, REACH, PIECES), gripper=False)
    start = controller.memory[controller.quaternion].copy()
    wanted, vector = turned(start, np.array([0.0, 0.0, 0.7])), np.empty(3)
    mujoco.mju_quat2Vel(vector, wanted, 1.0)
    pose = np.append(controller.memory[controller.position], vector)
    controller.command(pose)
    assert angle(controller.memory[controller.quaternion], start) == pytest.approx(0.5, abs=1e-6)
    controller.command(pose)
    assert angle(controller.memory[controller.quaternion], wanted) < 1e-6


def test_joint_positions_are_targets_cut_at_their_range_and_in_one_step(arm: Arm) -> None:
    controller = JointPositions("j", ("one", "two"), RANGES, PIECES, longest=0.6)
    controller.start_at(np.zeros(2))
    assert controller.command(np.array([0.3, -0.2]))[-1].tolist() == [0.3, -0.2]
    assert controller.command(np.array([5.0, -5.0]))[-1] == pytest.approx([0.9, -0.8])
    assert controller.command(np.array([5.0, -5.0]))[-1] == pytest.approx([1.0, -1.4])


def test_joint_velocities_move_the_targets_for_a_control_step_with_a_gripper_that_closes_at_once() -> None:
    controller = JointVelocities("v", ("one", "two"), RANGES, PIECES, period=0.05, fastest=2.0, gripper=HAND)
    controller.start_at(np.array([0.0, 0.5, widowx.FINGER_OPEN]))
    ctrl = controller.command(np.array([1.0, -9.0, 0.0]))
    assert controller.memory == pytest.approx([0.05, 0.4, widowx.FINGER_CLOSED])
    assert ctrl.shape == (PIECES, 3)
    assert ctrl[:, 0] == pytest.approx([0.0125, 0.025, 0.0375, 0.05])
    assert (ctrl[:, 2] == widowx.FINGER_CLOSED).all()


def test_motors_without_ramp_jump_and_may_stand_anywhere_in_the_memory() -> None:
    ramp = Ramp((Motor(2, False), Motor(0, True)), 2)
    assert ramp(np.array([1.0, 9.0, 3.0]), np.array([2.0, 9.0, 4.0])).tolist() == [[4.0, 1.5], [4.0, 2.0]]


def test_two_arms_play_their_parts_of_an_action_and_share_one_memory(arm: Arm) -> None:
    left = delta(arm, euler)
    right = JointPositions("j", ("one", "two"), RANGES, PIECES, longest=0.6)
    both = Together((("left", left), ("right", right)), (7, 2))
    both.start_at(np.concatenate([widowx.START_ARM, [widowx.FINGER_OPEN], [0.1, 0.2]]))
    start = both.memory.copy()
    assert len(both.numbers) == len(start) == 14 + 2
    assert both.numbers.names[:2] == ("left joint 1", "left joint 2")
    assert [motor.column for motor in both.motors] == [*range(7), 14, 15]
    action = np.array([0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.5])
    ctrl = both.command(action)
    assert ctrl.shape == (PIECES, 9)
    assert ctrl[-1, 7:].tolist() == [0.5, 0.5]
    after = both.memory.copy()
    both.memory = start
    assert both.command(action).tobytes() == ctrl.tobytes()
    assert both.memory.tobytes() == after.tobytes()
    with pytest.raises(SpecError, match="for each of 2 controllers, got 1"):
        Together((("left", left), ("right", right)), (9,))


def every_kind(arm: Arm) -> dict[str, tuple[Controller, int]]:
    """With the size of an action."""
    joints = JointPositions("positions", ("one", "two"), RANGES, PIECES, longest=0.6, gripper=HAND)
    speeds = JointVelocities("velocities", ("one", "two"), RANGES, PIECES, period=0.05, fastest=2.0)
    joints.start_at(np.array([0.1, 0.2, widowx.FINGER_OPEN]))
    speeds.start_at(np.array([0.1, 0.2]))
    return {
        "euler": (delta(arm, euler), 7),
        "axis angle": (delta(arm, axis_angle), 7),
        "without gripper": (delta(arm, euler, None), 6),
        "absolute": (started(AbsolutePose("a", arm, REACH, PIECES, gripper=HAND)), 7),
        "positions": (joints, 3),
        "velocities": (speeds, 2),
        "together": (Together((("one", speeds), ("other", joints)), (2, 3)), 5),
    }


KINDS = ("euler", "axis angle", "without gripper", "absolute", "positions", "velocities", "together")


@pytest.mark.parametrize("kind", KINDS)
def test_the_memory_and_the_motors_tell_all_of_the_way_to_the_next_memory(arm: Arm, kind: str) -> None:
    """What browsers rely on: the commands of a step follow from the memories at both its ends."""
    controller, size = every_kind(arm)[kind]
    rng = np.random.default_rng(3)
    ramp = Ramp(controller.motors, PIECES)
    for _ in range(5):
        before = controller.memory.copy()
        ctrl = controller.command(controller.still() + rng.normal(size=size) * 0.05)
        assert len(controller.numbers) == len(controller.memory)
        assert ctrl.tobytes() == ramp(before, controller.memory).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_the_still_action_moves_nothing(arm: Arm, kind: str) -> None:
    controller, size = every_kind(arm)[kind]
    before = controller.memory.copy()
    assert controller.still().shape == (size,)
    ctrl = controller.command(controller.still())
    assert controller.memory == pytest.approx(before, abs=1e-6)
    assert ctrl == pytest.approx(np.tile(ctrl[-1], (PIECES, 1)), abs=1e-6)


def test_a_move_that_is_too_long_is_shortened_for_the_delta_of_any_rotation(arm: Arm) -> None:
    for controller in (delta(arm, euler), delta(arm, axis_angle)):
        assert isinstance(controller, ToolPose)
        begin = controller.memory[controller.position].copy()
        controller.command(np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))
        assert np.linalg.norm(controller.memory[controller.position] - begin) <= 0.0501
