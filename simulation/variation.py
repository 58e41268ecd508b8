"""Changes of a scene's looks: in training, for measuring shifts, and by a battle's secret. None but a variant changes
physics.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from math import radians
from typing import Any

from simulation.contracts import Floats

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Variation:
    """`camera_offset` [m, base frame], `camera_rotation` [rad, rotation vector in the camera's frame], factors of all
    light and of the table's colour, shadows, other colours (name -> RGB 0..1), and the scene's variant
    (simulation.worlds.plugins.Scene), which alone changes bodies.
    """

    camera_offset: Vector = (0.0, 0.0, 0.0)
    camera_rotation: Vector = (0.0, 0.0, 0.0)
    light_scale: float = 1.0
    table_scale: Vector = (1.0, 1.0, 1.0)
    shadows: bool = False
    colours: Mapping[str, Vector] = field(default_factory=dict)
    variant: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON types alone, as an episode stores them."""
        return dict(json.loads(json.dumps(asdict(self))))


def vector_of(array: Floats) -> Vector:
    x, y, z = array.tolist()
    return x, y, z


NO_VARIATION = Variation()
COLOURS: Mapping[str, Vector] = {
    "red_cube": (0.80, 0.10, 0.09),
    "yellow_cube": (0.93, 0.76, 0.08),
    "blue_cylinder": (0.10, 0.25, 0.78),
    "green_sphere": (0.13, 0.60, 0.20),
}
"""The colours around which training and secrets draw tints."""

# The range of a secret, which lies within that of training (`simulation.disturbance.draw_variation`).
CAMERA_M = 0.01  # each axis
CAMERA_RAD = radians(1.0)  # each axis
LIGHT = (0.65, 1.15)
TABLE = (0.7, 1.1)
TABLE_TINT = 0.05
COLOUR = 0.05  # each channel


def variation_of(secret: str) -> Variation:
    """The looks of the scene in the battles with this secret; without one (""), no variation.

    The numbers come from the secret's hash alone, so that they do not depend on the version of a library.
    """
    if not secret:
        return NO_VARIATION
    draws = _draws(secret)

    def number(low: float, high: float) -> float:
        return low + (high - low) * next(draws)

    def vector(low: float, high: float) -> Vector:
        return number(low, high), number(low, high), number(low, high)

    offset = vector(-CAMERA_M, CAMERA_M)
    rotation = vector(-CAMERA_RAD, CAMERA_RAD)
    light = number(*LIGHT)
    table, tint = number(*TABLE), vector(1 - TABLE_TINT, 1 + TABLE_TINT)
    colours = {name: _shifted(colour, vector(-COLOUR, COLOUR)) for name, colour in COLOURS.items()}
    return Variation(offset, rotation, light, (table * tint[0], table * tint[1], table * tint[2]), colours=colours)


def chance_of(secret: str, seed: int) -> int:
    """The seed of the policies' noise, 0..2**31 - 1; without a secret it is the scene's seed."""
    if not secret:
        return seed
    return int.from_bytes(hashlib.sha256(f"{secret} {seed}".encode()).digest()[:4]) >> 1


def _draws(secret: str) -> Iterator[float]:
    """Numbers in 0..1, without end."""
    for place in itertools.count():
        digest = hashlib.sha256(f"{secret}/{place}".encode()).digest()
        yield int.from_bytes(digest[:6]) / 2**48


def _shifted(colour: Vector, by: Vector) -> Vector:
    red, green, blue = (min(1.0, max(0.0, value + shift)) for value, shift in zip(colour, by, strict=True))
    return red, green, blue
