"""What may look different from the frozen scene, for training and for measuring shifts. Physics never changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Variation:
    """`camera_offset` [m, base frame], `camera_rotation` [rad, rotation vector in the camera's frame], factors on all
    light and on the table's colour, shadows on, other colours (name -> RGB 0..1), and a fifth object that nothing
    names.
    """

    camera_offset: Vector = (0.0, 0.0, 0.0)
    camera_rotation: Vector = (0.0, 0.0, 0.0)
    light_scale: float = 1.0
    table_scale: Vector = (1.0, 1.0, 1.0)
    shadows: bool = False
    colours: Mapping[str, Vector] = field(default_factory=dict)
    fifth_object: bool = False


NO_VARIATION = Variation()
