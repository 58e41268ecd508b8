"""Operational-space torque control: torques that draw the tool to a pose, computed anew for every physics step.

After O. Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
formulation" (1987), with the gains and the order of robosuite 1.4.0 (`controllers/osc.py`, `utils/control_utils.py`),
so that policies for LIBERO find the arm that they were trained with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np

from simulation.contracts import Floats, Numbers, SpecError
from simulation.control.motors import Motor
from simulation.control.tool_pose import turned

STIFFNESS = 150.0  # [1/s2]
DAMPING = 2.0 * np.sqrt(STIFFNESS)  # critical [1/s]
REST_STIFFNESS = 10.0  # of joints towards their rest, as far as the tool does not notice [1/s2]
REST_DAMPING = 2.0 * np.sqrt(REST_STIFFNESS)
POSITION_M, ROTATION_RAD = 0.05, 0.5  # that 1 in an action stands for
CLOSING = 0.01  # of the gripper's way, from -1 open to 1 closed, in a physics step


@dataclass(frozen=True)
class Parts:
    """The names of an arm in its model, with the robot's prefix: hinges, the tool's site, actuators of the hinges and
    of two fingers, the first of which opens upwards and the second downwards.
    """

    joints: tuple[str, ...]
    tool: str
    motors: tuple[str, ...]
    fingers: tuple[str, str]


class TorqueControl:
    """An action is three numbers of position, three of rotation (a rotation vector, base axes), and one of the gripper,
    each -1..1; the last opens below 0 and closes above.

    The control memory: the tool's goal (position [m], quaternion wxyz), the joints' rest [rad], the fingers' commands
    (-1..1), and the motor commands of each piece of the last control step [N m, m], so that physics can be repeated
    without this code. A piece is one physics step, before which the arm is read.
    """

    SETTLING: ClassVar[int] = 10
    """The benchmark's own: every episode begins with so many actions that do nothing."""

    def __init__(self, id: str, parts: Parts, rest: Floats, pieces: int) -> None:
        self.id = id
        self._parts, self._rest, self._pieces = parts, np.asarray(rest, dtype=np.float64), pieces
        size = len(parts.joints)
        if self._rest.shape != (size,):
            raise SpecError(f"{id}: expected the rest of {size} joints, got shape {self._rest.shape}")
        count = size + len(parts.fingers)
        self._goal, self._turn = slice(0, 3), slice(3, 7)
        self._home = slice(7, 7 + size)
        self._fingers = slice(7 + size, 9 + size)
        first = 9 + size
        self._commands = slice(first, first + pieces * count)
        self.motors = tuple(Motor(first + motor, False, count) for motor in range(count))
        self.numbers = Numbers(id, *_numbers(parts, pieces))
        self.memory: Floats = np.zeros(len(self.numbers))

    def watch(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Read this arm from now on. `data` is only read, but for what MuJoCo derives of its positions and speeds."""
        self._model, self._data = model, data
        parts = self._parts
        self._site = model.site(parts.tool).id
        self._qpos = np.array([int(model.joint(name).qposadr[0]) for name in parts.joints])
        self._dofs = np.array([int(model.joint(name).dofadr[0]) for name in parts.joints])
        actuators = [model.actuator(name).id for name in (*parts.motors, *parts.fingers)]
        if actuators != list(range(model.nu)):
            raise SpecError(f"{self.id}: expected the actuators in the order {', '.join(parts.motors + parts.fingers)}")
        self._low, self._high = model.actuator_ctrlrange.T.copy()
        self._full = np.zeros((model.nv, model.nv))
        self._jacobian = np.zeros((6, model.nv))

    def start_at(self, joints: Floats) -> None:
        """Open fingers half way, and let the tool keep the orientation that it has with these joints (n,) [rad]."""
        scratch = mujoco.MjData(self._model)
        scratch.qpos[self._qpos] = joints
        mujoco.mj_kinematics(self._model, scratch)
        self.memory = np.zeros(len(self.numbers))
        self.memory[self._goal] = scratch.site_xpos[self._site]
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, scratch.site_xmat[self._site])
        self.memory[self._turn] = quaternion
        self.memory[self._home] = self._rest

    @property
    def closing(self) -> float:
        """Where the fingers are commanded to be, -1 open .. 1 closed: they press where something keeps them apart."""
        first, second = self.memory[self._fingers]
        return float(second - first) / 2

    def still(self) -> Floats:
        return np.array([0.0] * 6 + [-1.0])

    def command(self, action: Floats) -> Iterator[Floats]:
        """Apply one action. Yields ctrl (nu,) [N m, m] of each piece, after reading the arm as it then is."""
        self.memory = memory = self.memory.copy()
        asked = np.clip(action, -1.0, 1.0)
        self._read()
        self._aim(asked, memory)
        step = CLOSING * np.sign(asked[6]) * np.array([-1.0, 1.0])
        commands = memory[self._commands].reshape(self._pieces, -1)
        for piece in range(self._pieces):
            if piece:
                self._read()
            memory[self._fingers] = np.clip(memory[self._fingers] + step, -1.0, 1.0)
            commands[piece] = self._control(memory)
            yield commands[piece]

    def _read(self) -> None:
        """Derive pose, inertia and bias of the present state: what mj_step does first, without collisions."""
        model, data = self._model, self._data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, data.qfrc_bias)

    def _aim(self, asked: Floats, memory: Floats) -> None:
        """The goal moves from where the tool is; it turns only if a turn is asked for."""
        memory[self._goal] = self._data.site_xpos[self._site] + POSITION_M * asked[:3]
        if asked[3:6].any():
            quaternion = np.empty(4)
            mujoco.mju_mat2Quat(quaternion, self._data.site_xmat[self._site])
            memory[self._turn] = turned(quaternion, ROTATION_RAD * asked[3:6])

    def _control(self, memory: Floats) -> Floats:
        """ctrl (nu,) of the present state."""
        size = len(self._dofs)
        torques = self._torques(memory)
        middle, half = (self._high + self._low)[size:] / 2, (self._high - self._low)[size:] / 2
        fingers = middle + half * memory[self._fingers]
        found: Floats = np.clip(np.concatenate([torques, fingers]), self._low, self._high)
        return found

    def _torques(self, memory: Floats) -> Floats:
        """J^T F + bias + N^T t, with F of the errors of position and rotation, each by the tool's inertia in it alone,
        and t towards the joints' rest.
        """
        model, data, dofs = self._model, self._data, self._dofs
        mujoco.mj_fullM(model, data, self._full)
        mujoco.mj_jacSite(model, data, self._jacobian[:3], self._jacobian[3:], self._site)
        inertia = np.ascontiguousarray(self._full[np.ix_(dofs, dofs)])
        jacobian = np.ascontiguousarray(self._jacobian[:, dofs])
        speeds, rest = data.qvel[dofs], memory[self._home] - data.qpos[self._qpos]
        moved = np.empty(6)
        mujoco.mju_mulMatVec(moved, jacobian, speeds)
        wanted = STIFFNESS * self._error(memory) - DAMPING * moved
        factor = inertia.copy()
        mujoco.mju_cholFactor(factor, 0.0)
        compliant = _solved(factor, jacobian)  # rows: M^-1 of each row of J
        mobility = np.empty((6, 6))
        mujoco.mju_mulMatMatT(mobility, jacobian, compliant)
        force = np.concatenate([_apart(mobility[:3, :3], wanted[:3]), _apart(mobility[3:, 3:], wanted[3:])])
        pull = np.empty(len(dofs))
        mujoco.mju_mulMatVec(pull, inertia, REST_STIFFNESS * rest - REST_DAMPING * speeds)
        seen = np.empty(6)
        mujoco.mju_mulMatVec(seen, compliant, pull)
        force -= _apart(mobility, seen)
        torques = np.empty(len(dofs))
        mujoco.mju_mulMatTVec(torques, jacobian, force)
        found: Floats = torques + data.qfrc_bias[dofs] + pull
        return found

    def _error(self, memory: Floats) -> Floats:
        """From the tool to its goal: position [m], half the sum of the cross products of both frames' axes [rad]."""
        goal, product = np.empty(9), np.empty((3, 3))
        mujoco.mju_quat2Mat(goal, memory[self._turn])
        here = self._data.site_xmat[self._site].reshape(3, 3)
        mujoco.mju_mulMatMatT(product, np.ascontiguousarray(here), goal.reshape(3, 3))
        turn = [product[1, 2] - product[2, 1], product[2, 0] - product[0, 2], product[0, 1] - product[1, 0]]
        return np.concatenate([memory[self._goal] - self._data.site_xpos[self._site], 0.5 * np.array(turn)])


def _solved(factor: Floats, rows: Floats) -> Floats:
    """The inverse of a factored matrix times each row."""
    found = np.empty_like(rows)
    for row, solution in zip(rows, found, strict=True):
        mujoco.mju_cholSolve(solution, factor, row)
    return found


def _apart(matrix: Floats, vector: Floats) -> Floats:
    """The inverse of a symmetric matrix times a vector."""
    factor, found = np.ascontiguousarray(matrix).copy(), np.empty(len(vector))
    mujoco.mju_cholFactor(factor, 0.0)
    mujoco.mju_cholSolve(found, factor, np.ascontiguousarray(vector))
    return found


def _numbers(parts: Parts, pieces: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of the control memory."""
    joints = range(1, len(parts.joints) + 1)
    names = ["tool x", "tool y", "tool z", "tool qw", "tool qx", "tool qy", "tool qz"]
    units = ["m"] * 3 + [""] * 4 + ["rad"] * len(parts.joints) + [""] * 2
    names += [f"rest {number}" for number in joints] + ["finger 1", "finger 2"]
    motors: Sequence[str] = [f"torque {number}" for number in joints] + ["left finger", "right finger"]
    for piece in range(1, pieces + 1):
        names += [f"{motor}, piece {piece}" for motor in motors]
        units += ["N m"] * len(parts.joints) + ["m"] * 2
    return tuple(names), tuple(units)
