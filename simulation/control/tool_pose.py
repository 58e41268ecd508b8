"""Actions that are tool poses: the commanded pose is remembered, and joints are found that reach it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from simulation.contracts import Floats, Numbers
from simulation.control.kinematics import Arm
from simulation.control.motors import Gripper, Ramp, of_joints

Rotation = Callable[[Floats], Floats]
"""Three numbers of an action to a rotation vector [rad] in the base frame: `euler` or `axis_angle`."""


@dataclass(frozen=True)
class Reach:
    """Where the commanded tool may go: lowest and highest position (2, 3) [m], and the longest way per control step."""

    workspace: Floats
    longest_m: float
    longest_rad: float


class ToolPose(ABC):
    """The control memory: joint targets (n) [rad], with a gripper its target [m], then the commanded position (3) [m]
    and quaternion wxyz (4) in the base frame.

    An action is three numbers of position, three of rotation and, with a gripper, its opening 0..1. A pose out of reach
    is replaced by the nearest one that the joints reach, so that the command stays near the arm.
    """

    def __init__(self, id: str, arm: Arm, reach: Reach, pieces: int, *, gripper: Gripper | None = None) -> None:
        self.id = id
        self.arm = arm
        self.reach = reach
        self.gripper = gripper
        self.motors = of_joints(len(arm), gripper)
        self.joints = slice(0, len(arm))
        self.position = slice(len(self.motors), len(self.motors) + 3)
        self.quaternion = slice(self.position.stop, self.position.stop + 4)
        self.numbers = _numbers(id, len(arm), gripper)
        self.memory: Floats = np.zeros(len(self.numbers))
        self._ramp = Ramp(self.motors, pieces)

    def start_at(self, joints: Floats) -> None:
        """Set the commanded joints [rad] and, with a gripper, its target [m]: (nu,), and the pose that they give."""
        self.memory = np.empty(len(self.numbers))
        self.memory[: len(self.motors)] = joints
        self._remember_reached()

    def command(self, action: Floats) -> Floats:
        """Apply one action to the memory. Returns ctrl (pieces, nu) [rad, m]."""
        old = self.memory
        new = old.copy()
        new[self.position], new[self.quaternion] = self._wanted(action[:3], action[3:6])
        new[self.joints], reached = self.arm.solve(old[self.joints], new[self.position], new[self.quaternion])
        if self.gripper is not None:
            new[len(self.arm)] = self.gripper.command(action[6])
        self.memory = new
        if not reached:
            self._remember_reached()
        return self._ramp(old, new)

    def still(self) -> Floats:
        return np.append(self._still(), [] if self.gripper is None else [1.0])

    @abstractmethod
    def _still(self) -> Floats:
        """The six numbers of an action that keeps the commanded pose."""

    @abstractmethod
    def _wanted(self, position: Floats, rotation: Floats) -> tuple[Floats, Floats]:
        """The next commanded position and quaternion, from three numbers of an action each [m, rad]."""

    def _remember_reached(self) -> None:
        self.memory[self.position], self.memory[self.quaternion] = self.arm.tool_pose(self.memory[self.joints])


class DeltaPose(ToolPose):
    """Actions add up: each moves and turns the commanded pose, about the axes of the base frame.

    `rotation`: how an action tells a turn, `euler` or `axis_angle`.
    """

    def __init__(
        self, id: str, arm: Arm, reach: Reach, pieces: int, *, rotation: Rotation, gripper: Gripper | None = None
    ) -> None:
        super().__init__(id, arm, reach, pieces, gripper=gripper)
        self._vector = rotation

    def _still(self) -> Floats:
        return np.zeros(6)

    def _wanted(self, position: Floats, rotation: Floats) -> tuple[Floats, Floats]:
        place, quaternion = self.memory[self.position], self.memory[self.quaternion]
        move = shortened(position, self.reach.longest_m)
        spin = shortened(self._vector(rotation), self.reach.longest_rad)
        return np.clip(place + move, *self.reach.workspace), turned(quaternion, spin)


class AbsolutePose(ToolPose):
    """An action is a pose (its rotation a rotation vector), approached as far as one control step may go."""

    def _still(self) -> Floats:
        vector = np.empty(3)
        mujoco.mju_quat2Vel(vector, self.memory[self.quaternion], 1.0)
        return np.append(self.memory[self.position], vector)

    def _wanted(self, position: Floats, rotation: Floats) -> tuple[Floats, Floats]:
        place, quaternion = self.memory[self.position], self.memory[self.quaternion]
        move = shortened(np.clip(position, *self.reach.workspace) - place, self.reach.longest_m)
        local, way = np.empty(3), np.empty(3)
        mujoco.mju_subQuat(local, turned(np.array([1.0, 0.0, 0.0, 0.0]), rotation), quaternion)
        mujoco.mju_rotVecQuat(way, local, quaternion)
        return place + move, turned(quaternion, shortened(way, self.reach.longest_rad))


def shortened(vector: Floats, longest: float) -> Floats:
    length = float(np.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2))
    return vector * (longest / length) if length > longest else vector


def euler(rpy: Floats) -> Floats:
    """Rotation vector [rad] of roll, pitch, yaw [rad] about the fixed x, y, z axes, in this order."""
    quaternion, vector = np.empty(4), np.empty(3)
    mujoco.mju_euler2Quat(quaternion, rpy, "XYZ")
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector


def axis_angle(vector: Floats) -> Floats:
    """A rotation vector [rad] as it is: the axis times the angle."""
    return vector


def turned(quaternion: Floats, vector: Floats) -> Floats:
    """The pose turned by a rotation vector [rad] given in the base frame."""
    turn, result = np.empty(4), np.empty(4)
    angle = float(np.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2))
    mujoco.mju_axisAngle2Quat(turn, vector / angle if angle > 1e-12 else np.array([1.0, 0.0, 0.0]), angle)
    mujoco.mju_mulQuat(result, turn, quaternion)
    mujoco.mju_normalize4(result)
    return result


def _numbers(id: str, joints: int, gripper: Gripper | None) -> Numbers:
    names = [f"joint {number + 1}" for number in range(joints)]
    finger = [] if gripper is None else ["gripper"]
    pose = ["tool x", "tool y", "tool z", "tool qw", "tool qx", "tool qy", "tool qz"]
    units = ["rad"] * joints + ["m"] * len(finger) + ["m"] * 3 + [""] * 4
    return Numbers(id, tuple(names + finger + pose), tuple(units))
