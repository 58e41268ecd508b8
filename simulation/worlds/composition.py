"""A composed scene (simulation.composed) as a scene (simulation.worlds.plugins): known things on a known table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import mujoco
import numpy as np

from simulation.composed import Draw, PlacedThing, Plan
from simulation.contracts import Floats
from simulation.scene_plans import ROOMS
from simulation.worlds import workbench
from simulation.worlds.layout import Discs, LayoutError, add_thing, bench, discs_of, place, standing, waiting
from simulation.worlds.parts import Thing
from simulation.worlds.plugins import Look
from simulation.worlds.things import THINGS

PLATE_TRIES, TRIES = 40, 25
"""How many places of the plates are drawn at most, and layouts of the things for each."""


class ComposedScene:
    """One of a plan. Whatever a seed draws, what has a place of its own stands there."""

    VARIANTS = ("",)
    LOOK = Look()
    STARTS: Mapping[str, Floats] = {}

    def __init__(self, plan: Plan) -> None:
        self.id = plan.id
        self.plan = plan
        self.TARGETS = ROOMS[plan.room].targets
        self.things = {name: thing_of(each) for name, each in plan.things.items()}

    def objects(self, variant: str) -> tuple[str, ...]:
        return tuple(self.things)

    def build(self, variant: str) -> mujoco.MjSpec:
        spec = bench()
        spec.modelname = self.id
        if self.TARGETS:
            workbench.add_plates(spec)
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
        for _ in range(PLATE_TRIES):
            plates = workbench.plate_places(rng) if self.TARGETS else {}
            covered: Discs = [(*at.tolist(), workbench.PLATE_RADIUS) for at in plates.values()]
            for _ in range(TRIES):
                with suppress(LayoutError):
                    found = self._lay_out(rng, there, list(covered))
                    return {**workbench.slides_of(plates), **self._poses(found)}
        raise LayoutError(f"no layout for {', '.join(there)} in {PLATE_TRIES * TRIES} tries")

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
