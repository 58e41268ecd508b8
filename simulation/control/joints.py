"""Actions that are joint positions or velocities, which need no kinematics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from simulation.contracts import Floats, Numbers
from simulation.control.motors import Gripper, Ramp, of_joints


class Joints(ABC):
    """The control memory: joint targets (n) [rad] and, with a gripper, its target [m].

    An action is a number per joint and, with a gripper, its opening 0..1. `ranges` (n, 2): lowest and highest target;
    commands are cut there.
    """

    def __init__(self, id: str, names: Sequence[str], ranges: Floats, pieces: int, gripper: Gripper | None) -> None:
        self.id = id
        self.gripper = gripper
        self.motors = of_joints(len(names), gripper)
        finger = () if gripper is None else ("gripper",)
        self.numbers = Numbers(id, (*names, *finger), ("rad",) * len(names) + ("m",) * len(finger))
        self.memory: Floats = np.zeros(len(self.numbers))
        self._low, self._high = np.asarray(ranges, dtype=np.float64).T.copy()
        self._ramp = Ramp(self.motors, pieces)

    def start_at(self, joints: Floats) -> None:
        self.memory = np.array(joints, dtype=np.float64)

    def command(self, action: Floats) -> Floats:
        """Apply one action to the memory. Returns ctrl (pieces, nu) [rad, m]."""
        old, count = self.memory, len(self._low)
        new = old.copy()
        new[:count] = np.clip(self._wanted(action[:count]), self._low, self._high)
        if self.gripper is not None:
            new[count] = self.gripper.command(action[count])
        self.memory = new
        return self._ramp(old, new)

    def still(self) -> Floats:
        return np.append(self._still(), [] if self.gripper is None else [1.0])

    @abstractmethod
    def _still(self) -> Floats:
        """The numbers of an action (n,) that keeps the joint targets."""

    @abstractmethod
    def _wanted(self, numbers: Floats) -> Floats:
        """The next joint targets (n,) [rad], before they are cut."""


class JointPositions(Joints):
    """An action is the targets themselves [rad]. `longest` [rad]: the way that one control step may go."""

    def __init__(
        self,
        id: str,
        names: Sequence[str],
        ranges: Floats,
        pieces: int,
        *,
        longest: float,
        gripper: Gripper | None = None,
    ) -> None:
        super().__init__(id, names, ranges, pieces, gripper)
        self._longest = longest

    def _still(self) -> Floats:
        return self.memory[: len(self._low)]

    def _wanted(self, numbers: Floats) -> Floats:
        old = self.memory[: len(numbers)]
        return np.clip(numbers, old - self._longest, old + self._longest)


class JointVelocities(Joints):
    """An action is speeds [rad/s], at which the targets move for one control step of `period` [s].

    `fastest` [rad/s]: the most that is obeyed.
    """

    def __init__(
        self,
        id: str,
        names: Sequence[str],
        ranges: Floats,
        pieces: int,
        *,
        period: float,
        fastest: float,
        gripper: Gripper | None = None,
    ) -> None:
        super().__init__(id, names, ranges, pieces, gripper)
        self._period, self._fastest = period, fastest

    def _still(self) -> Floats:
        return np.zeros(len(self._low))

    def _wanted(self, numbers: Floats) -> Floats:
        return self.memory[: len(numbers)] + np.clip(numbers, -self._fastest, self._fastest) * self._period
