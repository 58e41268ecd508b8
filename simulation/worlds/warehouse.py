"""The warehouse: cartons on a packing bench, two bins beside them and two shelves behind.

Bins and cartons stand elsewhere for every seed; the white carton starts on the left shelf. Bins slide as plates do.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.worlds.layout import Area, lay_out, standing
from simulation.worlds.parts import Colour, Part, Thing
from simulation.worlds.plugins import Look

id = "warehouse"
VARIANTS = ("",)
SHELVES = {"left_shelf": 0.17, "right_shelf": -0.17}  # y of the middle of each [m]
BINS: Mapping[str, tuple[float, Colour]] = {
    "red_bin": (0.31, (0.72, 0.13, 0.11)),
    "blue_bin": (-0.31, (0.12, 0.29, 0.68)),
}
"""y of the middle of each [m], and its colour."""
TARGETS = (*BINS, *SHELVES)
LOOK = Look("warehouse-1", shadows=False)
STARTS: Mapping[str, Floats] = {}

AREA: Area = (0.32, 0.50, -0.12, 0.12)  # of cartons on the bench
BIN_X, PLAY = 0.40, 0.02  # of a bin's middle, and how far a seed moves it in x and y [m]
BIN_HALF, WALL = (0.09, 0.10, 0.035), 0.003  # [m]
SHELF_X, SHELF_HALF, SHELF_TOP = 0.66, (0.075, 0.13, 0.006), 0.12  # [m]
SHELF_PLAY = (0.02, 0.07)  # of the carton that starts on a shelf, in x and y [m]
CARTON_HALF = (0.036, 0.026, 0.025)  # [m]
ON_SHELF, SHELF = "white_carton", "left_shelf"


def carton(colour: Colour) -> Thing:
    """A closed box, narrow enough for the gripper, with tape along its top and a label."""
    x, _, z = CARTON_HALF
    tape = Part("box", (x, 0.005, 0.0003), (0, 0, z), role="seen", colour="tape")
    label = Part("box", (0.011, 0.008, 0.0003), (-0.016, 0.013, z), role="seen", colour="label")
    colours = {"tape": (0.88, 0.80, 0.64), "label": (0.96, 0.96, 0.94)}
    return Thing(
        colour, (Part("box", CARTON_HALF), tape, label), density=350.0, spin=np.pi / 4, colours=colours, shine=0.05
    )


CARTONS: Mapping[str, Thing] = {
    "red_carton": carton((0.78, 0.16, 0.13)),
    "blue_carton": carton((0.15, 0.34, 0.74)),
    "green_carton": carton((0.20, 0.55, 0.28)),
    ON_SHELF: carton((0.90, 0.90, 0.87)),
}


def objects(variant: str) -> tuple[str, ...]:
    return tuple(CARTONS)


def build(variant: str) -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_string(Path(__file__).with_suffix(".xml").read_text("utf-8"))
    for name, (y, colour) in BINS.items():
        spec.add_material(name=name, rgba=[*colour, 1.0], specular=0.3, shininess=0.3)
        _add_bin(spec, name, y)
    for name, y in SHELVES.items():
        _add_shelf(spec, name, y)
    for name, thing in CARTONS.items():
        thing.add_to(spec, name)
    return spec


def sample(rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
    bins = {f"{name}_{axis}": rng.uniform(-PLAY, PLAY, 1) for name in BINS for axis in "xy"}
    found = lay_out(rng, {name: thing for name, thing in CARTONS.items() if name != ON_SHELF}, AREA, [])
    x, y = np.array([SHELF_X, SHELVES[SHELF]]) + rng.uniform(-1.0, 1.0, 2) * SHELF_PLAY
    yaw = float(rng.uniform(-0.5, 0.5))
    return {**bins, **found, ON_SHELF: standing(CARTONS[ON_SHELF], float(x), float(y), yaw, SHELF_TOP)}


def _add_bin(spec: mujoco.MjSpec, name: str, y: float) -> None:
    """An open box on two slides. Its frame is in its middle."""
    body = spec.worldbody.add_body(name=name, pos=[BIN_X, y, BIN_HALF[2]])
    for axis, along in (("x", [1, 0, 0]), ("y", [0, 1, 0])):
        body.add_joint(
            name=f"{name}_{axis}",
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=along,
            range=[-0.08, 0.08],
            damping=40.0,
            frictionloss=15.0,
            armature=0.5,
        )
    half_x, half_y, half_z = BIN_HALF
    edge = WALL / 2
    _add_box(spec, body, name, [half_x, half_y, edge], [0.0, 0.0, edge - half_z], name)
    for side in (-1, 1):
        at_x, at_y = [side * (half_x - edge), 0.0, 0.0], [0.0, side * (half_y - edge), 0.0]
        _add_box(spec, body, f"{name}_x{side}", [edge, half_y, half_z], at_x, name)
        _add_box(spec, body, f"{name}_y{side}", [half_x - WALL, edge, half_z], at_y, name)
    spec.add_exclude(bodyname1="world", bodyname2=name)


def _add_shelf(spec: mujoco.MjSpec, name: str, y: float) -> None:
    """A board on four posts. Its frame is in the middle of the board."""
    body = spec.worldbody.add_body(name=name, pos=[SHELF_X, y, SHELF_TOP - SHELF_HALF[2]])
    _add_box(spec, body, name, [*SHELF_HALF], [0.0, 0.0, 0.0], "beam")
    half = (SHELF_TOP - 2 * SHELF_HALF[2]) / 2
    for x_side in (-1, 1):
        for y_side in (-1, 1):
            at = [x_side * (SHELF_HALF[0] - 0.008), y_side * (SHELF_HALF[1] - 0.008), -SHELF_HALF[2] - half]
            _add_box(spec, body, f"{name}_post{x_side}{y_side}", [0.008, 0.008, half], at, "upright")


def _add_box(
    spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str, size: list[float], at: list[float], material: str
) -> None:
    default, box = spec.find_default("object"), mujoco.mjtGeom.mjGEOM_BOX
    body.add_geom(default, name=name, type=box, size=size, pos=at, density=600.0, material=material)
