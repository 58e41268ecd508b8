"""Checking a composed scene before it is used: that there is room for what a seed draws, that it stays where it starts,
that its tasks can be asked and are not done already, and what a browser would load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import hypot

import mujoco
import numpy as np

from simulation import composed
from simulation.additions import Addition
from simulation.catalogue_rows import CatalogueError, Located, Row, mapping_of, read_rows
from simulation.composed import Composed
from simulation.contracts import AWAKE
from simulation.environment import Environment
from simulation.scene_plans import REACH, read_plan
from simulation.scene_tasks import tasks_of
from simulation.task_check import wrong_goals
from simulation.task_words import wrong_words
from simulation.worlds import load_world
from simulation.worlds.composition import FURNITURE, thing_of
from simulation.worlds.layout import FINGERS, Discs, LayoutError, discs_of

LAYOUTS = 40
"""Seeds for which there has to be room."""
SETTLED_S, MOST_MOVED, MOST_TILTED = 0.5, 0.005, 0.05
"""Within that time [s] nothing may move by more [m], or tilt by more (1 minus the cosine)."""
MOST_BYTES = 1_000_000
"""Of the scene's XML, which browsers load over the engine."""


def check_text(text: str, name: str, seeds: int) -> list[str]:
    """What is wrong with the scene in a text; faults begin with file and line. `seeds`: at which goals are tried."""
    try:
        rows = read_rows(text, name)
        if len(rows) != 1:
            return [f"{name}: expected a list of one scene, got {len(rows)}"]
        made = read_plan(rows[0])
        with composed.trying(made):
            return list(_faults(made, tasks_of(made), seeds))
    except CatalogueError as error:
        return [str(error)]


def _faults(made: Composed, tasks: Sequence[Addition], seeds: int) -> Iterator[str]:
    """Of a scene that is being tried. Each kind is looked for if there is nothing of the one before."""
    for look in (_wrong_places, _crowded, _unsettled, _wrong_tasks):
        found = list(look(made, tasks, seeds))
        yield from found
        if found:
            return


def _wrong_places(made: Composed, tasks: Sequence[Addition], seeds: int) -> Iterator[str]:
    """Places of their own that are out of reach, or too near to one another."""
    rows, fixed = mapping_of(made.row, "things"), _fixed(made)
    for name, discs in fixed.items():
        if name in rows and not all(REACH[0] <= x <= REACH[1] and REACH[2] <= y <= REACH[3] for x, y, _ in discs):
            yield f"{_at(rows, name)}{name}: an end of it is out of reach: {_reach()}"
    for one, other in combinations(fixed, 2):
        gap = min(hypot(x - u, y - v) - r - s for x, y, r in fixed[one] for u, v, s in fixed[other])
        if gap < FINGERS:
            said = f"overlaps {one}" if gap < 0 else f"is {1e3 * gap:.0f} mm from {one}"
            yield f"{_at(rows, other)}{other}: {said}; expected {1e3 * FINGERS:.0f} mm between them, for an open finger"


def _fixed(made: Composed) -> dict[str, Discs]:
    """The furniture of the room stands first."""
    places = ((name, each) for name, each in made.plan.things.items() if each.at)
    found = {name: discs_of(thing_of(each), *(each.at or (0.0, 0.0)), each.turned) for name, each in places}
    stands = list(FURNITURE[made.plan.room].always)
    return {made.plan.room: stands, **found} if stands else found


def _crowded(made: Composed, tasks: Sequence[Addition], seeds: int) -> Iterator[str]:
    """The first seed for whose things there is no room."""
    try:
        world = load_world(made.scene.robots[0], made.scene.id)
    except ValueError as error:  # MuJoCo's, such as of names that meet
        yield f"{_at(made.row, 'things')}things: they cannot be built: {error}"
        return
    for seed in range(LAYOUTS):
        try:
            world.sample(np.random.default_rng(seed))
        except LayoutError as error:
            yield f"{_at(made.row, 'things')}things: start {seed} has no room: {error}; take fewer, or larger areas"
            return
    if len(world.xml) > MOST_BYTES:
        yield f"{_at(made.row, 'things')}things: {len(world.xml)} bytes for browsers, expected at most {MOST_BYTES}"


def _unsettled(made: Composed, tasks: Sequence[Addition], seeds: int) -> Iterator[str]:
    """Things that slide, roll or fall before anything is done."""
    rows, environment = mapping_of(made.row, "things"), Environment(made.scene.robots[0], made.scene.id, physics=AWAKE)
    for seed in range(seeds):
        environment.reset(seed)
        view = environment.view
        here = [name for name in made.plan.things if name not in environment.absent]
        before = {name: (view.position(name).copy(), view.rotation(name)[2, 2]) for name in here}
        mujoco.mj_step(environment.model, environment.data, round(SETTLED_S / environment.model.opt.timestep))
        mujoco.mj_kinematics(environment.model, environment.data)
        for name, (position, upright) in before.items():
            moved = float(np.linalg.norm(view.position(name) - position))
            if moved > MOST_MOVED or abs(float(view.rotation(name)[2, 2] - upright)) > MOST_TILTED:
                yield f"{_at(rows, name)}{name}: start {seed} puts it where it moves by {1e3 * moved:.0f} mm or tips"
                return


def _wrong_tasks(made: Composed, tasks: Sequence[Addition], seeds: int) -> Iterator[str]:
    here, place = [(each.row, each.task) for each in tasks], _at(made.row, "things")
    for fault in (*wrong_words(made.scene.id, here), *wrong_goals(made.scene.id, here, seeds)):
        yield fault if fault.startswith(place) else f"{place}{fault}"


def _at(row: Row, key: str) -> str:
    return row.place(key) if isinstance(row, Located) else ""


def _reach() -> str:
    return f"expected x {REACH[0]}..{REACH[1]}, y {REACH[2]}..{REACH[3]} m"
