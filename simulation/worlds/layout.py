"""Where things start: places on the table that do not overlap, and a row out of sight for those that a seed leaves out.

A left-out thing hangs on one frictionless contact, of the peg in its centre of mass, so that it costs physics next to
nothing and stays as it is. Being left out is a position like any other: no seed changes the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot
from pathlib import Path

import mujoco
import numpy as np

from simulation.contracts import Floats, SimulationError
from simulation.worlds.parts import Thing

BENCH = Path(__file__).with_name("bench.xml")
WAITING_FLOOR, PEG = -1.0, 0.002  # height of bench.xml's floor for what is left out, and radius of a peg [m]
WAITING_GAP = 0.2  # between left-out things [m]
FINGERS = 0.018  # least gap between two things [m], for an open finger to pass
MAX_TRIES = 200
PLACE_TRIES = 40

Area = tuple[float, float, float, float]
"""x lowest, x highest, y lowest, y highest of centres [m, base frame]."""
Discs = list[tuple[float, float, float]]
"""x, y and radius of each [m, base frame]."""


class LayoutError(SimulationError):
    """No free place was found."""


def bench() -> mujoco.MjSpec:
    """The table without anything on it."""
    return mujoco.MjSpec.from_string(BENCH.read_text("utf-8"))


def add_thing(spec: mujoco.MjSpec, name: str, thing: Thing) -> None:
    """Add a thing that can be left out."""
    body = thing.add_to(spec, name)
    body.add_geom(spec.find_default("peg"), name=f"{name}_peg", pos=thing.centre_of_mass)


def standing(thing: Thing, x: float, y: float, yaw: float, on: float = 0.0) -> Floats:
    """The pose (7,) of a thing that stands at a place, `on` [m] over the table."""
    return np.array([x, y, on + thing.rest_height, np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])


def waiting(thing: Thing, number: int) -> Floats:
    """The pose (7,) of a left-out thing; `number` tells it from the others."""
    height = WAITING_FLOOR + PEG - float(thing.centre_of_mass[2])
    return np.array([0.6 - WAITING_GAP * (number % 6), -0.3 + WAITING_GAP * (number // 6), height, 1.0, 0.0, 0.0, 0.0])


def is_waiting(pose: Floats) -> bool:
    """Whether a pose (7,) is that of a left-out thing, or of one that fell off the table."""
    return bool(pose[2] < 0.5 * WAITING_FLOOR)


def discs_of(thing: Thing, x: float, y: float, yaw: float) -> Discs:
    """What a thing covers of the table when it stands at a place."""
    return [(x + along * np.cos(yaw), y + along * np.sin(yaw), radius) for along, radius in thing.footprint]


def lay_out(rng: np.random.Generator, things: Mapping[str, Thing], area: Area, taken: Discs) -> dict[str, Floats]:
    """Name -> pose (7,) of every thing somewhere in the area. `taken`: what is covered already. Raises LayoutError.

    The longest thing is placed first, because it fits nowhere once the others lie about.
    """
    order = sorted(things, key=lambda name: -things[name].half_length)
    for _ in range(MAX_TRIES):
        found: dict[str, Floats] = {}
        covered = list(taken)
        if all(place(rng, name, things[name], area, found, covered) for name in order):
            return {name: found[name] for name in things}
    raise LayoutError(f"no layout for {', '.join(things)} in {MAX_TRIES} tries")


def place(
    rng: np.random.Generator, name: str, thing: Thing, area: Area, found: dict[str, Floats], covered: Discs
) -> bool:
    """Put a thing somewhere in the area, and note it in `found` and `covered`; False if there is no room."""
    for _ in range(PLACE_TRIES):
        x, y = float(rng.uniform(area[0], area[1])), float(rng.uniform(area[2], area[3]))
        yaw = float(rng.uniform(-1.0, 1.0)) * thing.spin
        discs = discs_of(thing, x, y, yaw)
        if _within(discs, area) and _apart(discs, covered):
            found[name] = standing(thing, x, y, yaw)
            covered += discs
            return True
    return False


def _within(discs: Discs, area: Area) -> bool:
    """The ends of long things stay where fingers reach and cameras look."""
    return all(area[0] <= x <= area[1] and area[2] <= y <= area[3] for x, y, _ in discs)


def _apart(discs: Discs, others: Discs) -> bool:
    return all(
        hypot(x - at_x, y - at_y) > radius + other + FINGERS for x, y, radius in discs for at_x, at_y, other in others
    )
