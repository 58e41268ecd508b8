"""Where the fingers take hold of a thing, from its extent alone: across its narrow side, or by the rim of what is wider
than the gripper."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.expert.obstacles import clearance, discs_around
from simulation.goals import View
from simulation.worlds import widowx

GRASP_OFFSET = 0.002  # the tool grasps this much over the object's centre [m]
TIP_BELOW = 0.0175  # of the finger tips under the tool, with a little play [m]
TIE_BREAK = np.deg2rad(3.0)  # of two equally near grasps, the one to the left is taken
WIDEST = 0.053  # of what fits between open pads [m]
SQUARE = 0.004  # sides that differ by less are alike [m]
DIAGONAL = 0.008  # pads further apart than a square thing's side and this hold it by its diagonal [m]
NEAR = 0.025  # a held thing's centre from the tool [m]; long and wide things may be held elsewhere
RIM_INSET, RIM_DEPTH = 0.007, 0.007  # of the tool from the outer edge and from the top of a rim [m]
RIM_GAP = 0.036  # from the tool to the outer face of an open pad [m]
CUBES = ("red_cube", "yellow_cube", "purple_cube")


@dataclass(frozen=True)
class Grasp:
    """`place`: of the tool (3,) [m, base frame]. `turn`: of the commanded tool about z to it [rad]."""

    place: Floats
    turn: float


def grasp_of(environment: Environment, name: str, yaw: float) -> Grasp:
    """The grasp of a thing by a tool that is commanded to a yaw [rad]."""
    view = environment.view
    if width_of(environment, name) > WIDEST:
        return _by_the_rim(environment, name, yaw)
    place = view.position(name)
    if _is_long(view, name):
        place = place + view.rotation(name) @ environment.model.body(name).ipos
    below = float(view.position(name)[2]) - view.rest_height(name)
    height = max(widowx.WORKSPACE[0, 2], place[2] + GRASP_OFFSET, below + TIP_BELOW)
    return Grasp(np.array([place[0], place[1], height]), turn_to(environment, name, yaw))


def turn_to(environment: Environment, name: str, yaw: float) -> float:
    """The turn of a tool with this yaw about z to a square grasp of the thing [rad], the shorter way round."""
    rotation = environment.view.rotation(name)
    kind = _kind(environment, name)
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return 0.0
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        upright = abs(rotation[2, 2]) >= 0.7
        return 0.0 if upright else _wrapped(np.arctan2(rotation[1, 2], rotation[0, 2]) - yaw, np.pi)
    if is_square(environment, name):
        return _wrapped(cube_yaw(rotation) - yaw, np.pi / 2)
    axis = rotation[:, _level_sides(environment.view, name)[1]]
    return _wrapped(np.arctan2(axis[1], axis[0]) - yaw, np.pi)


def holds(environment: Environment, name: str) -> bool:
    """Whether both pads hold the thing near the tool point."""
    view = environment.view
    if view.pads_touching(name) != 2:
        return False
    offset = view.tool() - view.position(name)
    if float(np.linalg.norm(offset)) < NEAR:
        return True
    box, local = view.extent(name), view.rotation(name).T @ offset
    is_large = float(np.max(box.high - box.low)) > 2 * NEAR
    return is_large and bool((local > box.low - 0.008).all() and (local < box.high + 0.008).all())


def by_diagonal(environment: Environment, name: str, gap: float) -> bool:
    """Whether pads this far apart [m] hold a square thing by its diagonal."""
    is_box = _kind(environment, name) == mujoco.mjtGeom.mjGEOM_BOX
    return is_box and is_square(environment, name) and gap > width_of(environment, name) + DIAGONAL


def width_of(environment: Environment, name: str) -> float:
    """Of its narrower level side [m]."""
    narrow = _level_sides(environment.view, name)[0]
    return float(_sides(environment.view, name)[narrow])


def is_square(environment: Environment, name: str) -> bool:
    """Whether its level sides are alike, so that it looks the same every quarter turn."""
    narrow, wide = _level_sides(environment.view, name)
    sides = _sides(environment.view, name)
    return bool(sides[wide] - sides[narrow] < SQUARE)


def cube_yaw(rotation: Floats) -> float:
    """Yaw [rad] of the most level axis of a cube's rotation (3, 3)."""
    axis = rotation[:, int(np.argmin(np.abs(rotation[2])))]
    return float(np.arctan2(axis[1], axis[0]))


def _by_the_rim(environment: Environment, name: str, yaw: float) -> Grasp:
    """Of four points of the rim, the one where the outer finger has the most room."""
    view = environment.view
    place, box = view.position(name), view.extent(name)
    others = discs_around(environment, name)
    grasps = []
    height = max(widowx.WORKSPACE[0, 2], place[2] + float(box.high[2]) - RIM_DEPTH)
    for quarter in range(4):
        out = np.array([np.cos(quarter * np.pi / 2), np.sin(quarter * np.pi / 2)])
        tool = place[:2] + out * (box.radius - RIM_INSET)
        turn = _wrapped((quarter + 1) * np.pi / 2 - yaw, np.pi)
        x, y = tool + out * RIM_GAP
        room = min(0.02, clearance([(float(x), float(y), 0.01)], others)) - 0.002 * abs(turn)
        grasps.append((room, -quarter, Grasp(np.array([*tool, height]), turn)))
    return max(grasps, key=lambda each: each[:2])[2]


def _kind(environment: Environment, name: str) -> int:
    """Of the geom that has the thing's name."""
    return int(environment.model.geom(name).type[0])


def _sides(view: View, name: str) -> Floats:
    box = view.extent(name)
    return box.high - box.low


def _level_sides(view: View, name: str) -> tuple[int, int]:
    """The narrower and the wider of the two axes that are not the vertical one."""
    vertical = int(np.argmax(np.abs(view.rotation(name)[2])))
    sides = _sides(view, name)
    narrow, wide = sorted((axis for axis in range(3) if axis != vertical), key=lambda axis: float(sides[axis]))
    return narrow, wide


def _is_long(view: View, name: str) -> bool:
    narrow, wide = _level_sides(view, name)
    sides = _sides(view, name)
    return bool(sides[wide] > 1.8 * sides[narrow])


def _wrapped(angle: float, period: float) -> float:
    """The angle within one period around zero, which ends a little right of its half, so that a tie turns left."""
    low = -period / 2 + TIE_BREAK
    return float((angle - low) % period + low)
