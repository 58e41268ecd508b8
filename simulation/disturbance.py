"""Variety of demonstrations: noise on the executed actions, and changes of camera, light and colours."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simulation.contracts import Floats
from simulation.variation import COLOURS, Variation, vector_of


@dataclass
class Disturbance:
    """DART noise: the executed action differs from the stored one. Lengths in m and rad, per control step."""

    rng: np.random.Generator
    level: float
    kick: Floats = field(default_factory=lambda: np.zeros(3))
    kick_left: int = 0
    flip_left: int = 0

    def __call__(self, action: Floats) -> Floats:
        if self.level == 0.0:
            return action
        rng, noisy = self.rng, action.copy()
        if self.kick_left == 0 and rng.random() < 0.05:
            self.kick, self.kick_left = rng.normal(size=3) * 0.012 * self.level, int(rng.integers(1, 4))
        if self.flip_left == 0 and rng.random() < 0.012:
            self.flip_left = int(rng.integers(1, 3))
        noisy[:3] += rng.normal(size=3) * 0.005 * self.level
        noisy[3:6] += rng.normal(size=3) * 0.05 * self.level
        if self.kick_left:
            noisy[:3] += self.kick
            self.kick_left -= 1
        if self.flip_left:
            noisy[6] = 1.0 - noisy[6]
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
