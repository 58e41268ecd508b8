"""From two control memories to motor commands: what a browser repeats with `control` of a scene's manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simulation.contracts import Floats


@dataclass(frozen=True)
class Motor:
    """Where one actuator's command is in the control memory. `ramped`: from the old number to the new one in equal
    pieces of the control step; otherwise the new number holds from the first piece on. `stride`: unless 0, the memory
    has a command for each piece, and that of the next one is so many numbers further on.
    """

    column: int
    ramped: bool
    stride: int = 0


@dataclass(frozen=True)
class Gripper:
    """A motor that is told an opening: 0 is `closed`, 1 is `open` [m or rad of its joint]."""

    closed: float
    open: float

    def command(self, opening: float) -> float:
        return self.closed + min(1.0, max(0.0, float(opening))) * (self.open - self.closed)


class Ramp:
    """The way of the motor commands through a control step of `pieces` equal pieces."""

    def __init__(self, motors: Sequence[Motor], pieces: int) -> None:
        self._columns = np.array([motor.column for motor in motors])
        self._ramped = np.array([motor.ramped for motor in motors])
        self._part = (np.arange(1, pieces + 1) / pieces)[:, None]

    def __call__(self, old: Floats, new: Floats) -> Floats:
        """ctrl (pieces, nu) between two control memories. Browsers compute the same sum in the same order."""
        ctrl = np.empty((len(self._part), len(self._columns)))
        end = new[self._columns]
        ctrl[:] = end
        ramped = self._ramped
        start = old[self._columns[ramped]]
        ctrl[:, ramped] = start + (end[ramped] - start) * self._part
        return ctrl


def of_joints(count: int, gripper: Gripper | None) -> tuple[Motor, ...]:
    """`count` joints whose targets are ramped, and then a gripper, which is told its target at once."""
    joints = tuple(Motor(column, True) for column in range(count))
    return joints if gripper is None else (*joints, Motor(count, False))
