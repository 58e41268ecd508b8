"""Variety of demonstrations: noise on the executed actions, and changes of camera, light and colours."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simulation.contracts import LIBERO_ACTIONS, Floats
from simulation.control.torque import POSITION_M, ROTATION_RAD
from simulation.variation import COLOURS, Variation, vector_of


@dataclass(frozen=True)
class Units:
    """How an action tells a metre and a radian, what its gripper's numbers of open and closed add up to, and for how
    many control steps lasts what takes one at 5 Hz.
    """

    metre: float = 1.0
    radian: float = 1.0
    gripper: float = 1.0
    steps: int = 1


BRIDGE, LIBERO = Units(), Units(1 / POSITION_M, 1 / ROTATION_RAD, 0.0, 4)


def units_of(action_space: str) -> Units:
    """Those of LIBERO's actions; all others are told in m and rad, with an opening, at 5 Hz."""
    return LIBERO if action_space == LIBERO_ACTIONS else BRIDGE


@dataclass
class Disturbance:
    """DART noise: the executed action differs from the stored one."""

    rng: np.random.Generator
    level: float
    units: Units = BRIDGE
    kick: Floats = field(default_factory=lambda: np.zeros(3))
    kick_left: int = 0
    flip_left: int = 0

    def __call__(self, action: Floats) -> Floats:
        if self.level == 0.0:
            return action
        rng, noisy, units = self.rng, action.copy(), self.units
        metre, radian = units.metre * self.level, units.radian * self.level
        if self.kick_left == 0 and rng.random() < 0.05 / units.steps:
            self.kick, self.kick_left = rng.normal(size=3) * 0.012 * metre, units.steps * int(rng.integers(1, 4))
        if self.flip_left == 0 and rng.random() < 0.012 / units.steps:
            self.flip_left = units.steps * int(rng.integers(1, 3))
        noisy[:3] += rng.normal(size=3) * 0.005 * metre
        noisy[3:6] += rng.normal(size=3) * 0.05 * radian
        if self.kick_left:
            noisy[:3] += self.kick
            self.kick_left -= 1
        if self.flip_left:
            noisy[6] = units.gripper - noisy[6]
            self.flip_left -= 1
        return noisy


def draw_variation(rng: np.random.Generator) -> Variation:
    """Camera within 3 cm and 2 degrees (a quarter stays in place), light 0.5..1.2, tinted things, rarely shadows."""
    moved = rng.random() < 0.75
    offset = rng.uniform(-0.03, 0.03, 3) * moved
    turn = rng.uniform(-1.0, 1.0, 3) * np.deg2rad(2.0) * moved
    light = rng.uniform(0.5, 1.2)
    table = rng.uniform(0.55, 1.15) * rng.uniform(0.93, 1.07, 3)
    shadows = bool(rng.random() < 0.04)
    colours = {
        name: vector_of(np.clip(np.array(rgb) + rng.uniform(-0.06, 0.06, 3), 0.0, 1.0)) for name, rgb in COLOURS.items()
    }
    return Variation(vector_of(offset), vector_of(turn), float(light), vector_of(table), shadows, colours)
