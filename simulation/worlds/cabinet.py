"""The cabinet: two drawers one above the other, and a few things on the table beside it.

The drawers slide towards the robot. A knob stands in front of each, and the knobs stand apart, so that a gripper that
points down finds either of them free. Friction holds a drawer where it is left. The cabinet's own place is drawn by the
seed: it stands on two slides with more friction than a robot pulls with.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.worlds.layout import Area, Discs, add_thing, bench, lay_out, waiting
from simulation.worlds.plugins import Look
from simulation.worlds.things import THINGS

id = "cabinet"
VARIANTS = ("", "top_open", "bottom_open")
"""Of the same bodies; they differ in the drawer that a seed starts with open, for what is to be closed or taken out."""
DRAWERS = ("top_drawer", "bottom_drawer")
"""Bodies, and the joints that carry them."""
TARGETS = ("cabinet", *DRAWERS)
LOOK = Look()
STARTS: Mapping[str, Floats] = {}

ALWAYS = ("red_cube",)
SOMETIMES = ("yellow_cube", "blue_cylinder", "green_sphere", "white_cube", "carrot")
OBJECTS = (*ALWAYS, *SOMETIMES)
COUNTS = (3, 4)  # things on the table, of which a seed draws those of ALWAYS and others
AREA: Area = (0.20, 0.36, -0.18, -0.015)

OPENING = 0.10  # travel of a drawer [m]
OPEN_AT, CLOSED_AT = 0.07, 0.008  # a drawer is open from here on, and closed up to here [m]
STARTS_OPEN = (0.085, 0.10)

FRONT = (0.395, 0.15)  # where the middle of the cabinet's front stands [m]
PLAY = 0.015  # around there, in x and y [m]
DEPTH, WIDTH, HEIGHT, BOARD = 0.13, 0.19, 0.13, 0.008  # of the case [m]
PANEL, WALL = 0.008, 0.005  # thickness of a drawer's front, and of its sides and floor [m]
SIDE = 0.032  # height of a drawer's sides [m]
LEVELS = {"top_drawer": 0.066, "bottom_drawer": 0.008}  # underside of each drawer [m]
PANEL_HEIGHT = 0.054
KNOBS = {"top_drawer": 0.047, "bottom_drawer": -0.047}  # how far left of the middle each stands [m]
KNOB_RADIUS, KNOB_HALF, KNOB_OUT = 0.008, 0.013, 0.034  # and how far in front of the panel [m]
KNOB_HEIGHT = 0.027  # of its middle over the drawer's underside [m]
PULL = 1.5  # force that moves a drawer [N]
COVERED: Discs = [(x, y, 0.035) for x in (0.27, 0.33, 0.39, 0.45) for y in (0.09, 0.15, 0.21)]
"""Where it stands, and where its drawers open."""

Box = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Lowest and highest corner [m]."""


def objects(variant: str) -> tuple[str, ...]:
    return OBJECTS


def build(variant: str) -> mujoco.MjSpec:
    spec = bench()
    spec.modelname = id
    add_cabinet(spec)
    for name in OBJECTS:
        add_thing(spec, name, THINGS[name])
    return spec


def add_cabinet(spec: mujoco.MjSpec) -> None:
    """With its drawers and their materials."""
    _add_materials(spec)
    case = _add_case(spec)
    for name in DRAWERS:
        _add_drawer(spec, case, name)
    spec.add_exclude(bodyname1=DRAWERS[0], bodyname2=DRAWERS[1])


def closed_somewhere(rng: np.random.Generator) -> dict[str, Floats]:
    """Positions of its joints, as a seed draws them: where it stands, and its drawers closed."""
    slides = {f"cabinet_{axis}": rng.uniform(-PLAY, PLAY, 1) for axis in "xy"}
    return {**slides, **{name: np.zeros(1) for name in DRAWERS}}


def sample(rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
    joints = closed_somewhere(rng)
    if variant:
        joints[f"{variant.removesuffix('_open')}_drawer"] = rng.uniform(*STARTS_OPEN, 1)
    others = int(rng.choice(COUNTS)) - len(ALWAYS)
    drawn = [*ALWAYS, *map(str, rng.choice(SOMETIMES, others, replace=False))]
    found = lay_out(rng, {name: THINGS[name] for name in drawn}, AREA, [])
    poses = {name: found[name] if name in found else waiting(THINGS[name], at) for at, name in enumerate(OBJECTS)}
    return {**joints, **poses}


def _add_materials(spec: mujoco.MjSpec) -> None:
    for name, colour, shine in (
        ("cabinet", (0.90, 0.88, 0.84), 0.15),
        ("top_drawer", (0.36, 0.52, 0.56), 0.2),
        ("bottom_drawer", (0.36, 0.52, 0.56), 0.2),
        ("drawer_inside", (0.80, 0.70, 0.56), 0.1),
        ("knob", (0.80, 0.62, 0.25), 0.7),
    ):
        spec.add_material(name=name, rgba=[*colour, 1.0], specular=shine, shininess=shine)


def _add_case(spec: mujoco.MjSpec) -> mujoco.MjsBody:
    """The case, whose frame is on the table in the middle of its front."""
    body = spec.worldbody.add_body(name="cabinet", pos=[*FRONT, 0.0])
    slide = mujoco.mjtJoint.mjJNT_SLIDE
    for axis, along in (("x", [1, 0, 0]), ("y", [0, 1, 0])):
        body.add_joint(
            name=f"cabinet_{axis}",
            type=slide,
            axis=along,
            range=[-0.05, 0.05],
            damping=200.0,
            frictionloss=120.0,
            armature=2.0,
        )
    left, top = WIDTH / 2, HEIGHT
    _add_boards(
        spec,
        body,
        "cabinet",
        {
            "top": ((-0.004, -left - 0.004, top - BOARD), (DEPTH + 0.004, left + 0.004, top)),
            "left": ((0.0, left - BOARD, 0.0), (DEPTH, left, top - BOARD)),
            "right": ((0.0, -left, 0.0), (DEPTH, BOARD - left, top - BOARD)),
            "back": ((DEPTH - BOARD, BOARD - left, 0.0), (DEPTH, left - BOARD, top - BOARD)),
            "floor": ((0.0, BOARD - left, 0.001), (DEPTH - BOARD, left - BOARD, 0.006)),
            "shelf": ((0.0, BOARD - left, 0.060), (DEPTH - BOARD, left - BOARD, 0.064)),
        },
        density=600.0,
    )
    spec.add_exclude(bodyname1="world", bodyname2="cabinet")
    return body


def _add_drawer(spec: mujoco.MjSpec, case: mujoco.MjsBody, name: str) -> None:
    """A tray behind a panel with a knob. Its frame is on its underside in the middle of the panel's back."""
    body = case.add_body(name=name, pos=[0.0, 0.0, LEVELS[name]])
    slide = mujoco.mjtJoint.mjJNT_SLIDE
    body.add_joint(
        name=name, type=slide, axis=[-1, 0, 0], range=[0.0, OPENING], damping=4.0, frictionloss=PULL, armature=0.1
    )
    half, length, low = WIDTH / 2 - BOARD - 0.002, DEPTH - BOARD - 0.004, 0.002
    _add_boards(
        spec,
        body,
        name,
        {
            "floor": ((0.0, -half, low), (length, half, low + WALL)),
            "left": ((0.0, half - WALL, low), (length, half, SIDE)),
            "right": ((0.0, -half, low), (length, WALL - half, SIDE)),
            "back": ((length - WALL, WALL - half, low), (length, half - WALL, SIDE)),
            "panel": ((-PANEL, -half - 0.008, 0.0), (0.0, half + 0.008, PANEL_HEIGHT)),
        },
        density=500.0,
        materials={"panel": name},
    )
    _add_knob(spec, body, name)
    inner = np.array([(length - WALL) / 2, half - WALL, (SIDE - low - WALL) / 2 + 0.006])
    middle = [inner[0], 0.0, low + WALL + inner[2]]
    body.add_site(
        name=f"{name}_inside", type=mujoco.mjtGeom.mjGEOM_BOX, size=inner, pos=middle, group=5, rgba=[0.5, 0.5, 0.5, 0]
    )
    spec.add_exclude(bodyname1="cabinet", bodyname2=name)
    spec.add_exclude(bodyname1="world", bodyname2=name)


def _add_knob(spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str) -> None:
    """An upright post on a stem, which pads grasp from both sides."""
    default, geom = spec.find_default("object"), mujoco.mjtGeom
    out, aside = -PANEL - KNOB_OUT, KNOBS[name]
    stem, post = [0.004, KNOB_OUT / 2, 0.0], [KNOB_RADIUS, KNOB_HALF, 0.0]
    across = [np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]
    common = {"material": "knob", "density": 1000.0}
    body.add_geom(
        default, name=f"{name}_knob", type=geom.mjGEOM_CYLINDER, size=post, pos=[out, aside, KNOB_HEIGHT], **common
    )
    body.add_geom(
        default,
        name=f"{name}_stem",
        type=geom.mjGEOM_CYLINDER,
        size=stem,
        pos=[-PANEL - KNOB_OUT / 2, aside, KNOB_HEIGHT],
        quat=across,
        **common,
    )
    body.add_site(name=f"{name}_handle", pos=[out, aside, KNOB_HEIGHT], group=5, rgba=[0.5, 0.5, 0.5, 0])


def _add_boards(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    name: str,
    boards: Mapping[str, Box],
    density: float,
    materials: Mapping[str, str] | None = None,
) -> None:
    default = spec.find_default("object")
    usual = name if name == "cabinet" else "drawer_inside"
    for part, (low, high) in boards.items():
        size, middle = (np.array(high) - low) / 2, (np.array(high) + low) / 2
        material = (materials or {}).get(part, usual)
        body.add_geom(
            default,
            name=f"{name}_{part}",
            type=mujoco.mjtGeom.mjGEOM_BOX,
            size=size,
            pos=middle,
            density=density,
            material=material,
        )
