"""The shift suite: one thing is changed at a time, to measure how far a policy generalises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from simulation.catalogue_rows import CatalogueError
from simulation.variation import NO_VARIATION, Variation, vector_of
from simulation.worlds import scene_of
from simulation.worlds.plugins import Scene


@dataclass(frozen=True)
class Shift:
    """`camera_move` [m]: distance that the camera moves, in a direction drawn per episode. `kept_out`: only wordings
    that training never saw, instead of only those that it saw.
    """

    id: str
    variation: Variation = NO_VARIATION
    camera_move: float = 0.0
    kept_out: bool = False

    def changes(self, scene: Scene) -> bool:
        """Whether it can be seen in this scene, which has the variant and, where things are coloured, one of them."""
        coloured = self.variation.colours.keys()
        return self.variation.variant in scene.VARIANTS and (not coloured or not coloured.isdisjoint(scene.objects("")))

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


def shifts_in(scene_id: str, shift_ids: Iterable[str] | None = None) -> list[Shift]:
    """Those of the suite that change something in a scene, or the named ones, each of which has to.

    Raises CatalogueError for a shift that there is not, or that changes nothing there.
    """
    scene = scene_of(scene_id)
    there = [each for each in SHIFTS.values() if each.changes(scene)]
    chosen = [shift(name) for name in shift_ids or ()] or there
    for each in chosen:
        if each not in there:
            known = ", ".join(one.id for one in there)
            raise CatalogueError(f"the shift {each.id!r} changes nothing in the scene {scene_id!r}; these do: {known}")
    return chosen
