"""What the Panda's expert does with drawers and knobs: a list of poses, one after the other.

All of it is read off the scene: a drawer's handle is the part of it that stands out farthest where it opens to, and a
knob's bar is the part of it that stands highest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.goals.benchmark import Past

OPEN, KEEP, CLOSE = -1.0, 0.0, 1.0  # of the gripper: KEEP leaves the fingers where they are
TILT = np.deg2rad(78)  # of the hand at a handle, from straight down
APART_M, BEYOND = 0.10, 0.02  # before a handle; past a drawer's goal [m], and a knob's 10 times as much [rad]
STEPS, GRIP_STEPS = 40, 12
ENOUGH, FORWARD_M = 0.6, 0.045  # of a drawer's range to put things in; from its middle, where they are let fall
PARTS = 6  # of a turn of a knob
UP = np.array([0.0, 0.0, 1.0])
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


@dataclass(frozen=True)
class Leg:
    """The tool goes to `spot` (3,) [m] with the axes `rotation` (3, 3), and the gripper does `grip`. It ends when the
    tool is there, but neither before `least` control steps nor after `most`.
    """

    spot: Floats
    rotation: Floats
    grip: float
    least: int = 0
    most: int = STEPS


@dataclass
class Way:
    legs: Sequence[Leg]
    number: int = 0
    steps: int = 0

    @property
    def leg(self) -> Leg:
        return self.legs[self.number]

    def go_on(self, arrived: bool) -> bool:
        """Count a step. Whether anything is left to do."""
        self.steps += 1
        if (arrived and self.steps > self.leg.least) or self.steps > self.leg.most:
            self.number, self.steps = self.number + 1, 0
        return self.number < len(self.legs)


def joint_way(model: mujoco.MjModel, data: mujoco.MjData, goal: Past) -> Way:
    """How to move a joint past its value."""
    joint = int(model.joint(goal.joint).id)
    if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE:
        return Way([*drawer(model, data, joint, goal.value)])
    return Way([*knob(model, data, joint, goal.value)])


def closed_drawer(model: mujoco.MjModel, data: mujoco.MjData, region: str) -> Past | None:
    """The goal of opening the drawer that a region is in, if it is one and not open."""
    body = int(model.site_bodyid[model.site(region).id])
    joint = int(model.body_jntadr[body])
    if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_SLIDE:
        return None
    low, high = model.jnt_range[joint]
    opened = low if abs(low) > abs(high) else high
    if abs(data.qpos[model.jnt_qposadr[joint]]) > ENOUGH * abs(opened):
        return None
    return Past(model.joint(joint).name, (ENOUGH + 0.06) * float(opened), "below" if opened < 0 else "above")


def way_out(model: mujoco.MjModel, data: mujoco.MjData, region: str) -> Floats:
    """From the middle of a region in a drawer to where things are let fall, clear of what is over it (3,) [m]."""
    joint = int(model.body_jntadr[model.site_bodyid[model.site(region).id]])
    if joint < 0 or model.jnt_type[joint] != mujoco.mjtJoint.mjJNT_SLIDE:
        return np.zeros(3)
    low, high = model.jnt_range[joint]
    return np.asarray(data.xaxis[joint] * (FORWARD_M if abs(high) > abs(low) else -FORWARD_M))


def drawer(model: mujoco.MjModel, data: mujoco.MjData, joint: int, value: float) -> Iterator[Leg]:
    """Take the handle with a tilted hand and go where the joint's position [m] is `value` and a little more."""
    axis = data.xaxis[joint]
    low, high = model.jnt_range[joint]
    out = axis * (1.0 if abs(high) > abs(low) else -1.0)  # where it opens to
    handle = outermost(model, data, int(model.jnt_bodyid[joint]), out)
    approach = -np.sin(TILT) * out - np.cos(TILT) * UP
    rotation = axes(approach, np.cross(np.cross(out, UP), approach))
    way = axis * (value - data.qpos[model.jnt_qposadr[joint]])
    way += BEYOND * way / np.linalg.norm(way)
    before = handle - APART_M * approach
    yield Leg(before + 0.05 * UP, rotation, OPEN, most=2 * STEPS)
    yield Leg(before, rotation, OPEN)
    yield Leg(handle, rotation, OPEN)
    yield Leg(handle, rotation, CLOSE, GRIP_STEPS, GRIP_STEPS)
    yield Leg(handle + way, rotation, CLOSE, most=2 * STEPS)
    yield Leg(handle + way, rotation, OPEN, GRIP_STEPS // 2, GRIP_STEPS // 2)
    yield Leg(handle + way - APART_M * approach, rotation, OPEN)
    yield Leg(handle + way - APART_M * approach + 1.5 * APART_M * UP, rotation, OPEN)  # the hand clears it as it turns


def knob(model: mujoco.MjModel, data: mujoco.MjData, joint: int, value: float) -> Iterator[Leg]:
    """Take the bar of a knob across and turn it about its joint until it is past `value` [rad]."""
    anchor, axis = data.xanchor[joint], data.xaxis[joint]
    bar, across = highest(model, data, int(model.jnt_bodyid[joint]))
    place = np.array([*anchor[:2], bar[2]])
    turn = value - float(data.qpos[model.jnt_qposadr[joint]])
    turn += np.sign(turn) * 10 * BEYOND
    first = axes(-UP, across)
    yield Leg(place + APART_M * UP, first, OPEN, most=2 * STEPS)
    yield Leg(place, first, OPEN)
    yield Leg(place, first, CLOSE, GRIP_STEPS, GRIP_STEPS)
    for part in range(1, PARTS + 1):
        yield Leg(place, turned_about(axis, turn * part / PARTS) @ first, CLOSE, most=STEPS // 2)
    yield Leg(place, turned_about(axis, turn) @ first, OPEN, GRIP_STEPS, GRIP_STEPS)
    yield Leg(place + APART_M * UP, turned_about(axis, turn) @ first, OPEN)


def outermost(model: mujoco.MjModel, data: mujoco.MjData, body: int, out: Floats) -> Floats:
    """The middle (3,) [m] of the solid part of a body that stands out farthest in a direction."""
    return np.asarray(max(solid_boxes(model, data, body), key=lambda box: float(box.mean(0) @ out)).mean(0))


def highest(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> tuple[Floats, Floats]:
    """The middle (3,) [m] of the solid part of a body that reaches highest, and its narrow side's direction (3,)."""
    box = max(solid_boxes(model, data, body), key=lambda each: float(each[:, 2].max()))
    flat = (box - box.mean(0))[:, :2]
    _, directions = np.linalg.eigh(flat.T @ flat)
    return box.mean(0), np.array([*directions[:, 0], 0.0])


def solid_boxes(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> list[Floats]:
    """The corners (8, 3) [m] of the boxes around the geoms of a body that touch things."""
    first = int(model.body_geomadr[body])
    geoms = range(first, first + int(model.body_geomnum[body]))
    return [box_of(model, data, geom) for geom in geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]]


def box_of(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Floats:
    """The corners (8, 3) [m] of the box around a geom."""
    local = model.geom_aabb[geom, :3] + model.geom_aabb[geom, 3:] * CORNERS
    return np.asarray(data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T)


def axes(approach: Floats, across: Floats) -> Floats:
    """The tool's rotation (3, 3): its z goes where it points, its x along the line between the fingers."""
    z = approach / np.linalg.norm(approach)
    x = across - (across @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def nearer(rotation: Floats, now: Floats) -> Floats:
    """The same axes or those with both fingers exchanged, whichever is the shorter way from `now`."""
    other = rotation * [-1.0, -1.0, 1.0]
    return max(rotation, other, key=lambda each: float(np.trace(each @ now.T)))


def turned_about(axis: Floats, angle: float) -> Floats:
    """The rotation matrix (3, 3) of an angle [rad] about an axis."""
    quaternion, matrix = np.empty(4), np.empty(9)
    mujoco.mju_axisAngle2Quat(quaternion, axis, angle)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return np.asarray(matrix.reshape(3, 3))


def rotation_between(now: Floats, wanted: Floats) -> Floats:
    """The rotation vector (3,) [rad] from one rotation to another, in the base frame."""
    quaternion, vector = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(wanted @ now.T).ravel())
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector
