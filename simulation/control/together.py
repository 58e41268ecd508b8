"""Several controllers as one: two arms, or an arm on a lift."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from simulation.contracts import Floats, Numbers, SpecError
from simulation.control.motors import Motor

if TYPE_CHECKING:
    from simulation.worlds.plugins import Controller


class Together:
    """Controllers side by side, by name. An action is their actions one after the other, `sizes` numbers each; so are
    the control memories and the motors, whose actuators must stand in the robot's XML in this order.
    """

    def __init__(self, parts: Sequence[tuple[str, Controller]], sizes: Sequence[int]) -> None:
        if len(sizes) != len(parts):
            raise SpecError(f"expected the size of an action for each of {len(parts)} controllers, got {len(sizes)}")
        self.parts = tuple(part for _, part in parts)
        self.id = " + ".join(part.id for part in self.parts)
        self._actions = _slices(sizes)
        self._memories = _slices([len(part.numbers) for part in self.parts])
        self._motors = _slices([len(part.motors) for part in self.parts])
        self.motors = tuple(
            Motor(motor.column + place.start, motor.ramped)
            for part, place in zip(self.parts, self._memories, strict=True)
            for motor in part.motors
        )
        names = tuple(f"{name} {number}" for name, part in parts for number in part.numbers.names)
        units = tuple(unit for part in self.parts for unit in part.numbers.units)
        self.numbers = Numbers(self.id, names, units)

    @property
    def memory(self) -> Floats:
        return np.concatenate([part.memory for part in self.parts])

    @memory.setter
    def memory(self, memory: Floats) -> None:
        for part, place in zip(self.parts, self._memories, strict=True):
            part.memory = np.array(memory[place], dtype=np.float64)

    def start_at(self, joints: Floats) -> None:
        for part, place in zip(self.parts, self._motors, strict=True):
            part.start_at(joints[place])

    def still(self) -> Floats:
        return np.concatenate([part.still() for part in self.parts])

    def command(self, action: Floats) -> Floats:
        """Apply one action to every memory. Returns ctrl (pieces, nu)."""
        pairs = zip(self.parts, self._actions, strict=True)
        return np.concatenate([part.command(action[place]) for part, place in pairs], axis=1)


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = list(accumulate(sizes, initial=0))
    return [slice(start, end) for start, end in pairwise(ends)]
