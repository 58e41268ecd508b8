"""From actions to joint targets: actions add up to a commanded tool pose, for which damped least squares finds joints.

Only MuJoCo's own linear algebra is used, in a fixed order, so that the same actions give the same bits.
"""

from __future__ import annotations

import mujoco
import numpy as np

from simulation import assets
from simulation.contracts import Floats
from simulation.worlds import widowx

RAMP_PIECES = 10  # equal steps of the joint targets from old to new in one control step
MAX_STEP_M = 0.05  # longest move of the commanded tool position in one control step
MAX_STEP_RAD = 0.5  # longest turn of the commanded tool in one control step
MAX_ITERATIONS = 20
POSITION_TOLERANCE_M = 1e-4
ROTATION_TOLERANCE_RAD = 1e-3
DAMPING = 1e-5
ARM = 6
# The parts of the control memory (contracts.StartState.control).
JOINTS, FINGER, POSITION, QUATERNION = slice(0, 6), 6, slice(7, 10), slice(10, 14)
CONTROL_DIM = 14


class Controller:
    """The control memory of one WidowX: joint targets, finger target and the commanded tool pose."""

    def __init__(self) -> None:
        self._model = widowx.build(assets.robot_meshes(widowx.MESHES)).compile()
        self._data = mujoco.MjData(self._model)
        self._site = self._model.site("tool").id
        self._low, self._high = self._model.jnt_range[:ARM].T.copy()
        self._error = np.zeros(6)
        self._jacobian = np.zeros((6, self._model.nv))
        self.memory: Floats = np.zeros(CONTROL_DIM)

    def start_at(self, joints: Floats, finger: float) -> None:
        """Set the commanded joints [rad] (6,) and finger [m], and the tool pose that they give."""
        self.memory = np.empty(CONTROL_DIM)
        self.memory[JOINTS], self.memory[FINGER] = joints, finger
        self._remember_reached()

    def tool_pose(self, joints: Floats) -> tuple[Floats, Floats]:
        """Forward kinematics: position [m] (3,) and quaternion wxyz (4,) of the tool in the base frame."""
        self._forward(joints)
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, self._data.site_xmat[self._site])
        return self._data.site_xpos[self._site].copy(), quaternion

    def command(self, action: Floats) -> Floats:
        """Apply one action (7,) to the memory. Returns ctrl for each piece of the ramp, (RAMP_PIECES, 7) [rad, m].

        Moves are clipped in length, and the position to the workspace. A pose out of reach is replaced by the nearest
        one that the joints reach, so that the command stays near the arm.
        """
        old = self.memory
        new = old.copy()
        new[POSITION] = np.clip(old[POSITION] + _shortened(action[:3], MAX_STEP_M), *widowx.WORKSPACE)
        new[QUATERNION] = _turned(old[QUATERNION], _shortened(_rotation_vector(action[3:6]), MAX_STEP_RAD))
        new[JOINTS], reached = self.solve(old[JOINTS], new[POSITION], new[QUATERNION])
        opening = min(1.0, max(0.0, float(action[6])))
        new[FINGER] = widowx.FINGER_CLOSED + opening * (widowx.FINGER_OPEN - widowx.FINGER_CLOSED)
        self.memory = new
        if not reached:
            self._remember_reached()
        return ramp(old, new)

    def solve(self, start: Floats, position: Floats, quaternion: Floats) -> tuple[Floats, bool]:
        """Joints (6,) [rad] near `start` whose tool is as close to the pose as it gets, and whether it is there."""
        joints = start.copy()
        normal, step, right = np.empty((6, 6)), np.empty(6), np.empty(6)
        for _ in range(MAX_ITERATIONS):
            self._forward(joints)
            if self._pose_error(position, quaternion):
                return joints, True
            mujoco.mj_comPos(self._model, self._data)
            mujoco.mj_jacSite(self._model, self._data, self._jacobian[:3], self._jacobian[3:], self._site)
            jacobian = np.ascontiguousarray(self._jacobian[:, :ARM])
            mujoco.mju_mulMatTMat(normal, jacobian, jacobian)
            normal.flat[:: ARM + 1] += DAMPING
            mujoco.mju_cholFactor(normal, 0.0)
            mujoco.mju_mulMatTVec(right, jacobian, self._error)
            mujoco.mju_cholSolve(step, normal, right)
            np.clip(joints + step, self._low, self._high, out=joints)
        self._forward(joints)
        return joints, self._pose_error(position, quaternion)

    def _forward(self, joints: Floats) -> None:
        self._data.qpos[:ARM] = joints
        mujoco.mj_kinematics(self._model, self._data)

    def _pose_error(self, position: Floats, quaternion: Floats) -> bool:
        """Fill the error (3 m, 3 rad, base frame) of the current kinematics; True when it is within tolerance."""
        current = np.empty(4)
        mujoco.mju_mat2Quat(current, self._data.site_xmat[self._site])
        self._error[:3] = position - self._data.site_xpos[self._site]
        local = np.empty(3)
        mujoco.mju_subQuat(local, quaternion, current)
        mujoco.mju_rotVecQuat(self._error[3:], local, current)
        return bool(
            np.abs(self._error[:3]).max() < POSITION_TOLERANCE_M
            and np.abs(self._error[3:]).max() < ROTATION_TOLERANCE_RAD
        )

    def _remember_reached(self) -> None:
        self.memory[POSITION], self.memory[QUATERNION] = self.tool_pose(self.memory[JOINTS])


def ramp(old: Floats, new: Floats) -> Floats:
    """ctrl (RAMP_PIECES, 7) between two control memories: arm linear, fingers at once. Browsers compute the same."""
    ctrl = np.empty((RAMP_PIECES, 7))
    part = (np.arange(1, RAMP_PIECES + 1) / RAMP_PIECES)[:, None]
    ctrl[:, :ARM] = old[JOINTS] + (new[JOINTS] - old[JOINTS]) * part
    ctrl[:, ARM] = new[FINGER]
    return ctrl


def _shortened(vector: Floats, longest: float) -> Floats:
    length = float(np.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2))
    return vector * (longest / length) if length > longest else vector


def _rotation_vector(rpy: Floats) -> Floats:
    """Rotation vector [rad] of roll, pitch, yaw [rad] about the fixed x, y, z axes, in this order."""
    quaternion, vector = np.empty(4), np.empty(3)
    mujoco.mju_euler2Quat(quaternion, rpy, "XYZ")
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector


def _turned(quaternion: Floats, vector: Floats) -> Floats:
    """The pose turned by a rotation vector [rad] given in the base frame."""
    turn, turned = np.empty(4), np.empty(4)
    angle = float(np.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2))
    mujoco.mju_axisAngle2Quat(turn, vector / angle if angle > 1e-12 else np.array([1.0, 0.0, 0.0]), angle)
    mujoco.mju_mulQuat(turned, turn, quaternion)
    mujoco.mju_normalize4(turned)
    return turned
