"""The shift suite: one thing is changed at a time, to measure how far a policy generalises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from simulation.catalogue_rows import CatalogueError
from simulation.variation import NO_VARIATION, Variation, vector_of


@dataclass(frozen=True)
class Shift:
    """`camera_move` [m]: distance that the camera moves, in a direction drawn per episode. `kept_out`: only wordings
    that training never saw, instead of only those that it saw.
    """

    id: str
    variation: Variation = NO_VARIATION
    camera_move: float = 0.0
    kept_out: bool = False

    def draw(self, rng: np.random.Generator) -> Variation:
        """The variation of one episode."""
        if self.camera_move == 0.0:
            return self.variation
        direction = rng.normal(size=3)
        offset = vector_of(direction * self.camera_move / float(np.linalg.norm(direction)))
        return replace(self.variation, camera_offset=offset)


OTHER_COLOURS = {
    "red_cube": (0.95, 0.35, 0.10),
    "yellow_cube": (0.95, 0.65, 0.25),
    "blue_cylinder": (0.05, 0.50, 0.60),
    "green_sphere": (0.55, 0.80, 0.15),
}
SHIFTS: Mapping[str, Shift] = {
    shift.id: shift
    for shift in (
        Shift("camera-1cm", camera_move=0.01),
        Shift("camera-3cm", camera_move=0.03),
        Shift("dim-light", Variation(light_scale=0.5)),
        Shift("shadows", Variation(shadows=True)),
        Shift("other-colours", Variation(colours=OTHER_COLOURS)),
        Shift("kept-out-phrasings", kept_out=True),
        Shift("fifth-object", Variation(variant="fifth_object")),
    )
}


def shift(shift_id: str) -> Shift:
    try:
        return SHIFTS[shift_id]
    except KeyError:
        raise CatalogueError(f"unknown shift {shift_id!r}; known: {', '.join(SHIFTS)}") from None
