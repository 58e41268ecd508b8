"""A composed scene (simulation.composed) as a scene (simulation.worlds.plugins): known things on a known table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from simulation.composed import Draw, PlacedThing, Plan
from simulation.contracts import Floats
from simulation.scene_plans import ROOMS
from simulation.worlds import cabinet, workbench
from simulation.worlds.layout import Discs, LayoutError, add_thing, bench, discs_of, place, standing, waiting
from simulation.worlds.parts import Thing
from simulation.worlds.plugins import Look
from simulation.worlds.things import THINGS

FURNITURE_TRIES, TRIES = 40, 25
"""How many places of a room's furniture are drawn at most, and layouts of the things for each."""


@dataclass(frozen=True)
class Furniture:
    """What always stands in a room. `place` draws the positions of its joints, and says what of the table it covers.
    `always`: what it covers whatever a seed draws."""

    add_to: Callable[[mujoco.MjSpec], None] = lambda spec: None
    place: Callable[[np.random.Generator], tuple[dict[str, Floats], Discs]] = lambda rng: ({}, [])
    always: tuple[tuple[float, float, float], ...] = ()


def _plates(rng: np.random.Generator) -> tuple[dict[str, Floats], Discs]:
    plates = workbench.plate_places(rng)
    return workbench.slides_of(plates), [(*at.tolist(), workbench.PLATE_RADIUS) for at in plates.values()]


FURNITURE: Mapping[str, Furniture] = {
    "bench": Furniture(),
    "plates": Furniture(workbench.add_plates, _plates),
    "cabinet": Furniture(
        cabinet.add_cabinet, lambda rng: (cabinet.closed_somewhere(rng), cabinet.COVERED), tuple(cabinet.COVERED)
    ),
}
"""Of each of ROOMS."""


class ComposedScene:
    """One of a plan. Whatever a seed draws, what has a place of its own stands there."""

    VARIANTS = ("",)
    LOOK = Look()
    STARTS: Mapping[str, Floats] = {}

    def __init__(self, plan: Plan) -> None:
        self.id = plan.id
        self.plan = plan
        self.TARGETS = ROOMS[plan.room].targets
        self.furniture = FURNITURE[plan.room]
        self.things = {name: thing_of(each) for name, each in plan.things.items()}

    def objects(self, variant: str) -> tuple[str, ...]:
        return tuple(self.things)

    def build(self, variant: str) -> mujoco.MjSpec:
        spec = bench()
        spec.modelname = self.id
        self.furniture.add_to(spec)
        drawn = {name for draw in self.plan.draws for name in draw.of}
        for name, thing in self.things.items():
            if name in drawn:
                add_thing(spec, name, thing)
            else:
                thing.add_to(spec, name)
        return spec

    def sample(self, rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
        """Raises LayoutError when there is no room for what the seed drew."""
        there = self._drawn(rng)
        for _ in range(FURNITURE_TRIES):
            joints, covered = self.furniture.place(rng)
            for _ in range(TRIES):
                with suppress(LayoutError):
                    found = self._lay_out(rng, there, list(covered))
                    return {**joints, **self._poses(found)}
        raise LayoutError(f"no layout for {', '.join(there)} in {FURNITURE_TRIES * TRIES} tries")

    def _poses(self, found: Mapping[str, Floats]) -> dict[str, Floats]:
        """Of every thing: where it stands, or where it waits out of sight."""
        return {
            name: found[name] if name in found else waiting(thing, number)
            for number, (name, thing) in enumerate(self.things.items())
        }

    def _drawn(self, rng: np.random.Generator) -> list[str]:
        """What is there, in the order of the plan."""
        left_out = {name for draw in self.plan.draws for name in _left_out(rng, draw)}
        return [name for name in self.things if name not in left_out]

    def _lay_out(self, rng: np.random.Generator, there: list[str], covered: Discs) -> dict[str, Floats]:
        """Name -> pose (7,). First what has a place of its own, then the rest, the longest first."""
        found: dict[str, Floats] = {}
        fixed = [name for name in there if self.plan.things[name].at]
        for name in fixed:
            where = self.plan.things[name]
            x, y = where.at or (0.0, 0.0)
            found[name] = standing(self.things[name], x, y, where.turned)
            covered += discs_of(self.things[name], x, y, where.turned)
        others = sorted((name for name in there if name not in found), key=lambda name: -self.things[name].half_length)
        for name in others:
            if not place(rng, name, self.things[name], self.plan.things[name].area, found, covered):
                raise LayoutError(f"no place for {name}")
        return found


def thing_of(placed: PlacedThing) -> Thing:
    """The library's, in its own colour or the one that the plan gives it."""
    thing = THINGS[placed.like]
    return replace(thing, colour=placed.colour) if placed.colour else thing


def _left_out(rng: np.random.Generator, draw: Draw) -> list[str]:
    count = int(rng.integers(draw.least, draw.most + 1))
    return [str(name) for name in rng.choice(draw.of, len(draw.of) - count, replace=False)]
