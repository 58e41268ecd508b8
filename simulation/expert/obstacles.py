"""What stands on the table, as discs, and where there is room beside it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import ceil, hypot

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.worlds.layout import Discs, is_waiting

TALL = 0.045  # what is higher stands in the way of what is carried [m]
REACH = (0.16, 0.43, -0.21, 0.21)  # where things may be set down: x lowest, x highest, y lowest, y highest [m]
ROOM = 0.003  # least gap beside what is set down [m]
PAD_OUT, PAD_RADIUS = 0.031, 0.0125  # the open pads, from the tool to the middle of each [m]
FINE = 4  # discs across a box whose corners matter
Spot = tuple[float, float, float]
"""x and y of a thing that is set down, and the yaw of the hand then [m, m, rad]."""


def discs_of(environment: Environment, name: str, fine: int = 1) -> Discs:
    """What a thing covers of the table, as it lies now. `fine`: discs across the narrow side of a box; the more there
    are, the less they stand out over its corners.
    """
    view = environment.view
    rotation, place, box = view.rotation(name), view.position(name), view.extent(name)
    half = (box.high - box.low) / 2
    middle = place + rotation @ ((box.high + box.low) / 2)
    level = [axis for axis in range(3) if axis != int(np.argmax(np.abs(rotation[2])))]
    narrow, wide = sorted(level, key=lambda axis: float(half[axis]))
    is_round = not is_box(environment, name)
    rows = 1 if is_round else fine
    return _cover(middle[:2], rotation[:2, wide], float(half[wide]), float(half[narrow]), is_round, rows)


def _cover(middle: Floats, axis: Floats, half_length: float, half_width: float, is_round: bool, rows: int = 1) -> Discs:
    """Rows of discs along `axis` (2,) over a rectangle, or over what is longer than wide and round."""
    count = rows * max(1, ceil(half_length / half_width - 0.05))
    long, wide = half_length / count, half_width / rows
    radius = half_length if is_round and count == 1 else hypot(long, wide)
    aside = np.array([-axis[1], axis[0]])
    steps = product(_middles(half_length, count), _middles(half_width, rows))
    spots = [middle + along * axis + across * aside for along, across in steps]
    return [(float(x), float(y), radius) for x, y in spots]


def _middles(half: float, count: int) -> list[float]:
    """Of as many equal parts of -half..half."""
    return [half / count * (2 * number + 1) - half for number in range(count)]


def is_box(environment: Environment, name: str) -> bool:
    """Whether it has corners; what was turned on a lathe has none."""
    return _first_geom(environment, name) == int(mujoco.mjtGeom.mjGEOM_BOX)


def is_ball(environment: Environment, name: str) -> bool:
    """Whether it looks the same from all sides."""
    return _first_geom(environment, name) == int(mujoco.mjtGeom.mjGEOM_SPHERE)


def _first_geom(environment: Environment, name: str) -> int:
    model = environment.model
    return int(model.geom_type[model.body_geomadr[model.body(name).id]])


def discs_around(environment: Environment, *without: str, fine: int = 1) -> Discs:
    """Of everything on the table but these, as `discs_of` covers them."""
    world, view = environment.world, environment.view
    there = [name for name in (*world.objects, *world.targets) if name not in without]
    return [disc for name in there if not is_waiting(view.position(name)) for disc in discs_of(environment, name, fine)]


def clearance(discs: Discs, others: Discs) -> float:
    """The least gap between these and the others [m]; negative where they overlap."""
    if not others:
        return 1.0
    mine, yours = np.array(discs), np.array(others)
    apart = np.hypot(mine[:, None, 0] - yours[None, :, 0], mine[:, None, 1] - yours[None, :, 1])
    return float((apart - mine[:, None, 2] - yours[None, :, 2]).min())


def covered_at(environment: Environment, name: str, spot: Spot) -> Discs:
    """What a thing and the pads around it cover at a spot, with its long side along the hand's yaw."""
    x, y, yaw = spot
    box = environment.view.extent(name)
    sides, is_round = sorted(float(side) / 2 for side in (box.high - box.low)[:2]), not is_box(environment, name)
    middle, along = np.array([x, y]), np.array([np.cos(yaw), np.sin(yaw)])
    return [*_cover(middle, along, sides[1], sides[0], is_round, 1 if is_round else FINE), *_pads(middle, yaw)]


def _pads(tool: Floats, yaw: float) -> Discs:
    """Of an open hand."""
    across = np.array([-np.sin(yaw), np.cos(yaw)])
    return [(*(tool + sign * PAD_OUT * across).tolist(), PAD_RADIUS) for sign in (-1, 1)]


def free_spot(environment: Environment, name: str, spots: Iterable[Spot]) -> Spot | None:
    """The first spot within reach at which there is room for the thing and the hand; else None."""
    others = discs_around(environment, name, fine=FINE)
    return next((spot for spot in spots if has_room(environment, name, spot, others)), None)


def has_room(environment: Environment, name: str, spot: Spot, others: Discs) -> bool:
    return _is_reached(*spot[:2]) and clearance(covered_at(environment, name, spot), others) >= ROOM


def _is_reached(x: float, y: float) -> bool:
    return REACH[0] <= x <= REACH[1] and REACH[2] <= y <= REACH[3]


def height_in_the_way(environment: Environment, name: str, to: Floats) -> float:
    """The height of the tallest thing near the straight way of a carried thing to a place (2,) [m]; 0 without one."""
    view, tallest = environment.view, 0.0
    start = view.position(name)[:2]
    radius = 0.01 + view.extent(name).radius
    for other in environment.world.objects:
        place, box = view.position(other), view.extent(other)
        height = float(box.high[2] - box.low[2])
        if other == name or height <= TALL or is_waiting(place):
            continue
        if _from_way(start, to, place[:2]) < radius + box.radius and np.hypot(*(to - place[:2])) > 0.01:
            tallest = max(tallest, height)
    return tallest


def _from_way(start: Floats, end: Floats, point: Floats) -> float:
    """The distance of a point from the line between two others [m]."""
    way = end - start
    share = np.clip((point - start) @ way / max(1e-9, float(way @ way)), 0.0, 1.0)
    return float(np.hypot(*(start + share * way - point)))
