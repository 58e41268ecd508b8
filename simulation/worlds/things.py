"""The library of things that scenes are made of: what each looks like, what fingers meet, and how heavy it is.

Each has its own frame, x along its length and z up as it stands. Sizes follow the WidowX: its pads are 56 mm apart when
open and 12 mm when closed, so that what it lifts is 13 to 52 mm thick somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, sin

import numpy as np

from simulation.worlds.parts import Colour, Hollow, Part, Thing, Vector
from simulation.worlds.revolved import Mesh, lying, turned

RAISED = 0.0004  # [m] of parts that need not touch the table where another part does: contacts cost time
RED, YELLOW, GREEN, BLUE = (0.80, 0.10, 0.09), (0.93, 0.76, 0.08), (0.13, 0.60, 0.20), (0.10, 0.25, 0.78)
PLASTIC, CLAY, VEGETABLE, FRUIT, METAL, CLOTH = 1100.0, 600.0, 700.0, 400.0, 1200.0, 330.0  # kg/m3


def cube(colour: Colour, half: float, mass: float | None = None) -> Thing:
    return block(colour, (half, half, half), spin=pi / 4, mass=mass)


def block(colour: Colour, half: Vector, spin: float = pi / 2, mass: float | None = None) -> Thing:
    return Thing(colour, (Part("box", half),), spin=spin, mass=mass)


def _ring_of_boxes(radius: float, thickness: float, low: float, high: float, count: int) -> tuple[Part, ...]:
    """An upright wall around the z axis, `radius` [m] to its outer face."""
    middle = radius - thickness / 2
    half = (thickness / 2, radius * np.tan(pi / count), (high - low) / 2)
    angles = (2 * pi * number / count for number in range(count))
    return tuple(
        Part("box", half, (middle * cos(a), middle * sin(a), (low + high) / 2), (0.0, 0.0, a), "felt") for a in angles
    )


def cup(colour: Colour) -> Thing:
    """44 mm wide, to be grasped by its whole width, with room for a cube of 22 mm. Its frame is in its middle."""
    outer, inner, half, floor = 0.022, 0.0188, 0.025, 0.004
    outline = [
        (0.0, -half), (outer - 0.002, -half), (outer - 0.001, -half + 0.0015), (outer, half - 0.0012),
        (outer - 0.001, half), (inner + 0.0006, half), (inner, half - 0.0012),
        (inner - 0.0006, -half + floor + 0.002), (0.0, -half + floor),
    ]  # fmt: skip
    felt = (
        Part("cylinder", (outer, floor / 2), (0, 0, floor / 2 - half), role="felt"),
        *_ring_of_boxes(outer, outer - inner, floor - half, half, 10),
    )
    hollow = Hollow((inner * 0.7, inner * 0.7, half - floor / 2), (0, 0, floor / 2))
    return Thing(
        colour, (Part("mesh", role="seen", mesh=turned(outline)), *felt), PLASTIC, spin=0.0, shine=0.5, inside=hollow
    )


def bowl(colour: Colour) -> Thing:
    """112 mm wide and 34 mm deep, with a rolled lip that fingers can straddle. Its frame is in its middle."""
    outer, lip, half, floor = 0.056, 0.0135, 0.017, 0.005
    inner, foot = outer - lip, 0.032
    round_lip = [(outer - lip / 2 + lip / 2 * cos(a), half - 0.005 + 0.005 * sin(a)) for a in np.linspace(-0.5, pi, 9)]
    outline = [
        (0.0, -half), (foot, -half), (foot + 0.003, -half + 0.003), (outer - 0.008, 0.0), (outer - 0.003, half - 0.010),
        *round_lip, (inner, half - 0.009), (inner - 0.004, -0.002),
        (inner - 0.013, -half + floor + 0.001), (0.0, -half + floor),
    ]  # fmt: skip
    felt = (
        Part("cylinder", (foot + 0.004, floor / 2), (0, 0, floor / 2 - half), role="felt"),
        *_ring_of_boxes(outer - 0.006, 0.013, floor - half - 0.001, half - 0.012, 12),
        *_ring_of_boxes(outer, lip, half - 0.012, half, 12),
    )
    hollow = Hollow((inner * 0.7, inner * 0.7, half - floor / 2), (0, 0, floor / 2))
    return Thing(
        colour, (Part("mesh", role="seen", mesh=turned(outline)), *felt), CLAY, spin=0.0, shine=0.5, inside=hollow
    )


def _bar(half_length: float, half_width: float, half_height: float, x: float = 0.0, z: float = 0.0) -> tuple[Part, ...]:
    """A beam along x whose section is an octagon, so that it lies flat and does not roll."""
    chamfer = 0.45
    return (
        Part("box", (half_length, half_width, half_height * (1 - chamfer)), (x, 0, z), role="felt"),
        Part("box", (half_length, half_width * (1 - chamfer), half_height), (x, 0, z), role="felt", own=chamfer),
    )


def carrot(half_length: float = 0.0575, radius: float = 0.016, density: float = VEGETABLE) -> Thing:
    """Its thick end is at +x, with a stub of green. It lies on its side."""
    body, start = 0.86 * half_length, -half_length
    tip = [(0.0, start), (0.25 * radius, start + 0.003), (0.42 * radius, start + 0.012)]
    trunk = [
        (radius * (0.42 + 0.58 * share), start + 0.012 + share * (body + half_length - 0.024))
        for share in (0.25, 0.5, 0.75, 1.0)
    ]
    crown = [(0.92 * radius, body - 0.006), (0.6 * radius, body - 0.001), (0.0, body)]
    stalk = half_length - body
    green = turned([(0.0, 0.0), (0.0045, 0.001), (0.0055, stalk), (0.003, stalk + 0.001), (0.0, stalk)])
    stub = Mesh(green.vertices[:, [2, 0, 1]] + (body - 0.002, 0.0, 0.0), green.faces)
    rear = 0.62 * radius
    felt = (
        *_bar(0.5 * half_length, radius, radius, 0.45 * half_length),
        *_bar(0.3 * half_length, rear, rear, -0.35 * half_length, rear - radius + RAISED),
    )
    return Thing(
        (0.93, 0.42, 0.07),
        (
            Part("mesh", role="seen", mesh=lying([*tip, *trunk, *crown])),
            Part("mesh", role="seen", mesh=stub, colour="green"),
            *felt,
        ),
        density,
        colours={"green": (0.22, 0.52, 0.16)},
    )


def eggplant(half_length: float = 0.0392, radius: float = 0.0188, density: float = FRUIT) -> Thing:
    """Its thick end is at -x, and a green calyx at +x. It lies on its side."""
    length, start = 0.80 * half_length, -half_length
    sides = [
        (radius * float(np.sqrt(max(0.0, 1 - u * u))), start + radius * (1 + u))
        for u in (-1.0, -0.92, -0.75, -0.5, -0.2, 0.1)
    ]
    neck = [
        (0.93 * radius, 0.15 * half_length), (0.78 * radius, 0.45 * half_length), (0.66 * radius, length - 0.006),
        (0.4 * radius, length), (0.0, length),
    ]  # fmt: skip
    hood = [(0.0, 0.0), (0.76 * radius, 0.001), (0.70 * radius, 0.008), (0.30 * radius, 0.0115)]
    stalk = [(0.0045, 0.013), (0.004, 0.0185), (0.0, 0.0185)]
    cap, drop = turned([*hood, *stalk]), -0.28 * radius
    calyx = Mesh(cap.vertices[:, [2, 0, 1]] + (half_length - 0.0185, 0.0, drop), cap.faces)
    felt = (
        *_bar(0.55 * half_length, radius, radius, -0.38 * half_length),
        *_bar(0.38 * half_length, 0.7 * radius, 0.7 * radius, 0.55 * half_length, RAISED - 0.3 * radius),
    )
    return Thing(
        (0.30, 0.11, 0.36),
        (
            Part("mesh", role="seen", mesh=lying([*sides, *neck])),
            Part("mesh", role="seen", mesh=calyx, colour="green"),
            *felt,
        ),
        density,
        colours={"green": (0.28, 0.50, 0.18)},
        shine=0.6,
    )


def spoon(colour: Colour = (0.55, 0.60, 0.64), density: float = METAL) -> Thing:
    """140 mm long; its bowl is at +x. The handle is 14 mm wide, for pads that close to 12 mm."""
    bowl_at, handle_at = 0.0427, -0.0225
    below = [(0.0, -0.010), (0.5, -0.0092), (0.8, -0.0062), (0.97, -0.0005), (1.0, 0.0026)]
    above = [(0.97, 0.0030), (0.9, 0.001), (0.72, -0.0038), (0.45, -0.0066), (0.0, -0.0075)]
    deep = turned([*below, *above])
    shell = Mesh(deep.vertices * (0.0273, 0.0173, 1.0) + (bowl_at, 0.0, 0.0), deep.faces)
    return Thing(
        colour,
        (
            Part("capsule", (0.007, 0.0405), (handle_at, 0, -0.003), (0, pi / 2, 0), role="seen"),
            Part("mesh", role="seen", mesh=shell),
            Part("box", (0.067, 0.007, 0.006), (-0.003, 0, -0.004), role="felt"),
            Part("box", (0.022, 0.0155, 0.0055), (bowl_at, 0, RAISED - 0.0045), role="felt", own=0.55),
        ),
        density,
        shine=0.6,
    )


def towel(colour: Colour = (0.36, 0.55, 0.72), half: Vector = (0.05, 0.05, 0.005), density: float = CLOTH) -> Thing:
    """A folded cloth: a flat block with two stripes."""
    stripe = (0.004, half[1], 0.0003)
    stripes = tuple(
        Part("box", stripe, (x, 0, half[2]), role="seen", colour="stripe") for x in (-0.6 * half[0], 0.6 * half[0])
    )
    return Thing(
        colour, (Part("box", half), *stripes), density, spin=pi / 4, colours={"stripe": (0.86, 0.89, 0.92)}, shine=0.0
    )


def plate(
    colour: Colour = (0.93, 0.93, 0.91), radius: float = 0.055, half: float = 0.003, density: float = 1000.0
) -> Thing:
    """A flat disc with a darker middle. Flat cylinders are what the browser draws shadows upon."""
    well = Part("cylinder", (0.68 * radius, 0.0004), (0, 0, half), role="seen", colour="well")
    return Thing(
        colour,
        (Part("cylinder", (radius, half)), well),
        density,
        spin=0.0,
        colours={"well": (0.86, 0.87, 0.87)},
        shine=0.3,
    )


def basket(colour: Colour = YELLOW, half: Vector = (0.05, 0.04, 0.022), thickness: float = 0.003) -> Thing:
    """An open box. Its frame is in its middle."""
    x, y, z = half
    edge = thickness / 2
    walls = (
        Part("box", (x, y, edge), (0, 0, edge - z)),
        *(Part("box", (edge, y, z - edge), (sign * (x - edge), 0, edge)) for sign in (-1, 1)),
        *(Part("box", (x - thickness, edge, z - edge), (0, sign * (y - edge), edge)) for sign in (-1, 1)),
    )
    hollow = Hollow((x - thickness, y - thickness, z - edge), (0, 0, edge))
    return Thing(colour, walls, PLASTIC, inside=hollow)


THINGS: Mapping[str, Thing] = {
    # These four are those of the table top, to the gram.
    "red_cube": cube(RED, 0.0165, 0.036),
    "yellow_cube": cube(YELLOW, 0.0165, 0.036),
    "blue_cylinder": Thing(BLUE, (Part("cylinder", (0.016, 0.02)),), spin=0.0, mass=0.035),
    "green_sphere": Thing(
        GREEN, (Part("sphere", (0.0175,)),), spin=0.0, mass=0.04, friction=(1, 0.005, 0.002), rolls=True
    ),
    "white_cube": cube((0.88, 0.89, 0.90), 0.011, 0.014),
    "purple_block": block((0.45, 0.20, 0.62), (0.035, 0.0125, 0.0125)),
    "orange_block": block((0.92, 0.45, 0.10), (0.025, 0.0165, 0.008)),
    "cup": cup((0.15, 0.55, 0.60)),
    "bowl": bowl((0.82, 0.72, 0.58)),
    "carrot": carrot(0.048, 0.0145),
    "eggplant": eggplant(),
    "spoon": spoon(),
    "towel": towel(),
    "plate": plate(),
    "basket": basket(),
}
