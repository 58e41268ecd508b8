"""The kinematics of one arm: where its tool is, and which joints bring it to a pose (damped least squares)."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from simulation.contracts import Floats

MAX_ITERATIONS = 20
POSITION_TOLERANCE_M = 1e-4
ROTATION_TOLERANCE_RAD = 1e-3
DAMPING = 1e-5
REST_GAIN = 0.1  # of the way to the rest pose, in each iteration
LONGEST_STEP_RAD = 0.2  # of an arm with a rest pose, in each iteration
ARM_M = 0.2  # from the tool's point, where a turn counts as a way


class Arm:
    """`joints`: hinges or slides of `model` in the order of their numbers, n of them. `tool`: a site behind them.

    The base frame is that of `model`. `rest`: joints (n,) [rad] to which an arm with more joints than a pose needs
    turns on its way, as far as the tool's pose leaves it free. Out of reach it takes the nearest pose
    that it comes by; an arm without a rest pose takes the last one.
    """

    def __init__(self, model: mujoco.MjModel, joints: Sequence[str], tool: str, rest: Floats | None = None) -> None:
        self._model = model
        self._data = mujoco.MjData(model)
        self._site = model.site(tool).id
        found = [model.joint(name) for name in joints]
        self._qpos = np.array([int(joint.qposadr[0]) for joint in found])
        self._dofs = np.array([int(joint.dofadr[0]) for joint in found])
        self.low, self.high = np.array([joint.range for joint in found]).T.copy()
        self._rest = rest
        self._error = np.zeros(6)
        self._jacobian = np.zeros((6, model.nv))

    def __len__(self) -> int:
        return len(self._qpos)

    def tool_pose(self, joints: Floats) -> tuple[Floats, Floats]:
        """Forward kinematics: position [m] (3,) and quaternion wxyz (4,) of the tool in the base frame."""
        self._forward(joints)
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, self._data.site_xmat[self._site])
        return self._data.site_xpos[self._site].copy(), quaternion

    def solve(self, start: Floats, position: Floats, quaternion: Floats) -> tuple[Floats, bool]:
        """Joints (n,) [rad] near `start` whose tool is as close to the pose as it gets, and whether it is there."""
        joints = start.copy()
        nearest, least = start.copy(), np.inf
        for _ in range(MAX_ITERATIONS):
            self._forward(joints)
            if self._pose_error(position, quaternion):
                return joints, True
            if self._rest is not None and (off := self._distance()) < least:
                nearest, least = joints.copy(), off
            np.clip(joints + self._step(joints), self.low, self.high, out=joints)
        self._forward(joints)
        reached = self._pose_error(position, quaternion)
        return (joints if reached or self._rest is None else nearest), reached

    def _step(self, joints: Floats) -> Floats:
        """The next step (n,) [rad] towards the pose of the present error."""
        size = len(self)
        normal, step, right = np.empty((size, size)), np.empty(size), np.empty(size)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_jacSite(self._model, self._data, self._jacobian[:3], self._jacobian[3:], self._site)
        jacobian = np.ascontiguousarray(self._jacobian[:, self._dofs])
        mujoco.mju_mulMatTMat(normal, jacobian, jacobian)
        normal.flat[:: size + 1] += DAMPING
        mujoco.mju_cholFactor(normal, 0.0)
        mujoco.mju_mulMatTVec(right, jacobian, self._error)
        mujoco.mju_cholSolve(step, normal, right)
        if self._rest is not None:
            step += self._free(normal, jacobian, REST_GAIN * (self._rest - joints))
            step *= min(1.0, LONGEST_STEP_RAD / max(1e-9, float(np.abs(step).max())))
        return step

    def _distance(self) -> float:
        """Of the tool from the pose [m], with turns as ways of a point at ARM_M."""
        return float(mujoco.mju_norm3(self._error[:3]) + ARM_M * mujoco.mju_norm3(self._error[3:]))

    def _free(self, factor: Floats, jacobian: Floats, way: Floats) -> Floats:
        """The part of a way of the joints (n,) [rad] that does not move the tool. `factor`: of the normal matrix."""
        moved, right, back = np.empty(6), np.empty(len(self)), np.empty(len(self))
        mujoco.mju_mulMatVec(moved, jacobian, way)
        mujoco.mju_mulMatTVec(right, jacobian, moved)
        mujoco.mju_cholSolve(back, factor, right)
        return way - back

    def _forward(self, joints: Floats) -> None:
        self._data.qpos[self._qpos] = joints
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
