"""What stands on the table, as discs, and where there is room beside it."""

from __future__ import annotations

from collections.abc import Iterable
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
Spot = tuple[float, float, float]
"""x and y of a thing that is set down, and the yaw of the hand then [m, m, rad]."""


def discs_of(environment: Environment, name: str) -> Discs:
    """What a thing covers of the table, as it lies now."""
    view = environment.view
    rotation, place, box = view.rotation(name), view.position(name), view.extent(name)
    half = (box.high - box.low) / 2
    middle = place + rotation @ ((box.high + box.low) / 2)
    level = [axis for axis in range(3) if axis != int(np.argmax(np.abs(rotation[2])))]
    narrow, wide = sorted(level, key=lambda axis: float(half[axis]))
    return _row(middle[:2], rotation[:2, wide], float(half[wide]), float(half[narrow]), not is_box(environment, name))


def _row(middle: Floats, axis: Floats, half_length: float, half_width: float, is_round: bool) -> Discs:
    count = max(1, ceil(half_length / half_width - 0.05))
    part = half_length / count
    radius = half_length if is_round and count == 1 else hypot(part, half_width)
    steps = [part * (2 * number + 1) - half_length for number in range(count)]
    return [(float(middle[0] + along * axis[0]), float(middle[1] + along * axis[1]), radius) for along in steps]


def is_box(environment: Environment, name: str) -> bool:
    """Whether it has corners; what was turned on a lathe has none."""
    return bool(int(environment.model.geom(name).type[0]) == mujoco.mjtGeom.mjGEOM_BOX)


def discs_around(environment: Environment, *without: str) -> Discs:
    """Of everything on the table but these."""
    world, view = environment.world, environment.view
    there = [name for name in (*world.objects, *world.targets) if name not in without]
    return [disc for name in there if not is_waiting(view.position(name)) for disc in discs_of(environment, name)]


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
    sides = sorted(float(side) / 2 for side in (box.high - box.low)[:2])
    along, across = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
    pads = [(*(np.array([x, y]) + sign * PAD_OUT * across), PAD_RADIUS) for sign in (-1, 1)]
    return [*_row(np.array([x, y]), along, sides[1], sides[0], not is_box(environment, name)), *pads]


def free_spot(environment: Environment, name: str, spots: Iterable[Spot], *without: str) -> Spot | None:
    """The first spot within reach at which there is room for the thing and the hand; else None."""
    others = discs_around(environment, name, *without)
    return next((spot for spot in spots if has_room(environment, name, spot, others)), None)


def has_room(environment: Environment, name: str, spot: Spot, others: Discs) -> bool:
    x, y, _ = spot
    reached = REACH[0] <= x <= REACH[1] and REACH[2] <= y <= REACH[3]
    return reached and clearance(covered_at(environment, name, spot), others) >= ROOM


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
