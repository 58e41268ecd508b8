"""The workbench: five or six of twelve things between two plates, drawn by the seed, so that scenes differ."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.worlds.layout import Area, LayoutError, add_thing, bench, lay_out, waiting
from simulation.worlds.parts import Thing
from simulation.worlds.plugins import Look
from simulation.worlds.things import THINGS

id = "workbench"
VARIANTS = ("",)
TARGETS = ("left_plate", "right_plate")
LOOK = Look()
STARTS: Mapping[str, Floats] = {}

BASIC = ("red_cube", "yellow_cube", "blue_cylinder", "green_sphere")
"""Of these a seed draws two or three: whatever it draws, something can be picked, placed and stacked."""
CONTAINERS = ("bowl", "cup")
CONTAINER_SHARE = 0.75
"""A seed draws one of these, or none."""
SMALL = ("white_cube", "orange_block")
LONG = ("purple_block", "carrot", "eggplant", "spoon")
MOST_LONG = 2  # of the long ones, and one fewer beside the bowl, so that all find places
OBJECTS = (*BASIC, *CONTAINERS, *SMALL, *LONG)

AREA: Area = (0.20, 0.39, -0.15, 0.15)
PLATE_AREA = {"left_plate": (0.26, 0.34, 0.11, 0.15), "right_plate": (0.26, 0.34, -0.15, -0.11)}
MAX_REDRAWS = 50
PLATE_RADIUS, PLATE_HALF, PLATE_MASS = 0.05, 0.003, 0.4


def objects(variant: str) -> tuple[str, ...]:
    return OBJECTS


def build(variant: str) -> mujoco.MjSpec:
    spec = bench()
    spec.modelname = id
    add_plates(spec)
    for name in OBJECTS:
        add_thing(spec, name, THINGS[name])
    return spec


def add_plates(spec: mujoco.MjSpec) -> None:
    """Both, with their materials."""
    spec.add_material(name="plate", rgba=[0.93, 0.93, 0.91, 1.0], specular=0.2, shininess=0.3)
    spec.add_material(name="plate_well", rgba=[0.85, 0.86, 0.86, 1.0], specular=0.2, shininess=0.3)
    for name in TARGETS:
        add_plate(spec, name)


def add_plate(spec: mujoco.MjSpec, name: str) -> None:
    """A plate that slides, as on the table top."""
    default, cylinder = spec.find_default("plate"), mujoco.mjtGeom.mjGEOM_CYLINDER
    body = spec.worldbody.add_body(name=name, pos=[0.0, 0.0, PLATE_HALF])
    for axis, along, limits in (("x", [1, 0, 0], [0.1, 0.5]), ("y", [0, 1, 0], [-0.4, 0.4])):
        body.add_joint(default, name=f"{name}_{axis}", axis=along, range=limits)
    size = [PLATE_RADIUS, PLATE_HALF, 0.0]
    body.add_geom(default, name=name, type=cylinder, size=size, mass=PLATE_MASS, material="plate", conaffinity=3)
    well, at = [0.7 * PLATE_RADIUS, 0.0003, 0.0], [0.0, 0.0, PLATE_HALF]
    body.add_geom(
        default,
        name=f"{name}_well",
        type=cylinder,
        size=well,
        pos=at,
        mass=0.0,
        material="plate_well",
        contype=0,
        conaffinity=0,
    )
    spec.add_exclude(bodyname1="world", bodyname2=name)


def sample(rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
    drawn = draw(rng)
    plates, found = _lay_out(rng, {name: THINGS[name] for name in drawn})
    poses = {name: found.get(name, waiting(THINGS[name], number)) for number, name in enumerate(OBJECTS)}
    return {**slides_of(plates), **poses}


def slides_of(plates: Mapping[str, Floats]) -> dict[str, Floats]:
    """Plate -> (x, y), as positions of their joints."""
    return {
        f"{name}_{axis}": at for name, place in plates.items() for axis, at in zip("xy", place[:, None], strict=True)
    }


def plate_places(rng: np.random.Generator) -> dict[str, Floats]:
    """Plate -> (x, y) [m], as a seed draws them."""
    return {name: rng.uniform(*np.reshape(area, (2, 2)).T) for name, area in PLATE_AREA.items()}


def _lay_out(rng: np.random.Generator, things: Mapping[str, Thing]) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Plate -> (x, y), and thing -> pose. Raises LayoutError when no places of the plates leave room for the things."""
    for _ in range(MAX_REDRAWS):
        plates = plate_places(rng)
        with suppress(LayoutError):
            return plates, lay_out(rng, things, AREA, [(*place.tolist(), PLATE_RADIUS) for place in plates.values()])
    raise LayoutError(f"no layout for {', '.join(things)} with {MAX_REDRAWS} places of the plates")


def draw(rng: np.random.Generator) -> list[str]:
    """The things that are there, in the order of OBJECTS."""
    basic = _some(rng, BASIC, int(rng.choice((2, 3))))
    container = _some(rng, CONTAINERS, int(rng.random() < CONTAINER_SHARE))
    count = 5 if "bowl" in container else int(rng.choice((5, 6)))
    too_many = _some(rng, LONG, len(LONG) - MOST_LONG + len({"bowl"} & {*container}))
    others = [name for name in _some(rng, (*SMALL, *LONG), len(SMALL) + len(LONG)) if name not in too_many]
    chosen = {*basic, *container, *others[: count - len(basic) - len(container)]}
    return [name for name in OBJECTS if name in chosen]


def _some(rng: np.random.Generator, names: tuple[str, ...], count: int) -> list[str]:
    return [str(name) for name in rng.choice(names, count, replace=False)]
