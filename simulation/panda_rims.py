"""Where the Panda's open hand finds room to take a thing by its rim: one finger inside, the other outside."""

from __future__ import annotations

from collections.abc import Collection

import mujoco
import numpy as np

from simulation.contracts import Floats

INSET_M = 0.006  # of the tool from the rim's outer side
ROOM_M = 0.03  # from which more room is no better
SAME_M = 0.005  # less is no difference, or the hand would turn back and forth between two places
OVER = np.array([0.0, 0.0, 0.10])  # from where it comes down [m]
WAYS = np.deg2rad(np.arange(0, 360, 30))
HAND = np.array(  # of the open hand, seen from the tool: out along the line between the fingers, across it, up [m]
    [[out, across, up] for out in (0.045, 0.055) for across in (-0.012, 0.012) for up in (0.0, 0.03, 0.06)]
    + [[out, across, 0.11] for out in (-0.10, -0.05, 0.05, 0.10) for across in (-0.03, 0.03)]
    + [[out, across, up] for out in (-0.05, 0.05) for across in (-0.05, 0.05) for up in (0.17, 0.23)]  # the wrist
)

REACH_M = float(np.linalg.norm(HAND, axis=1).max())


def best_rim(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    bodies: Collection[int],
    points: Floats,
    height: float,
    way: Floats,
    tool: Floats,
) -> tuple[Floats, float]:
    """The place (2,) [m] at the rim of a thing, whose corners are `points`, and the yaw of the line between the fingers
    [rad]: that with the most room, here, over it, and at the other end of `way` (3,) [m]; of those with as much the one
    that turns the hand least, and of these the nearest to `tool` (3,) [m]. `bodies`: the thing, and what it is to stand
    on, which take no room.
    """
    middle = (points[:, :2].max(0) + points[:, :2].min(0)) / 2
    out = np.column_stack([np.cos(WAYS), np.sin(WAYS)])  # (w, 2)
    spots = middle + out * (((points[:, :2] - middle) @ out.T).max(0) - INSET_M)[:, None]
    yaws = WAYS % np.pi - np.pi / 2  # of the line, which is y at a yaw of 0
    tools = np.column_stack([spots, np.full(len(WAYS), height)])
    boxes = boxes_about(model, data, bodies)
    room = np.min([_room(tools + more, out, boxes) for more in (np.zeros(3), OVER, way)], axis=0)
    worth = np.minimum(room, ROOM_M) // SAME_M
    best = int(np.lexsort((np.linalg.norm(tools - tool, axis=1), abs(yaws), -worth))[0])
    return spots[best], float(yaws[best])


def _room(tools: Floats, out: Floats, boxes: tuple[Floats, Floats, Floats]) -> Floats:
    """For tools (w, 3) [m] with the line between the fingers along `out` (w, 2): the distance (w,) [m] of the open hand
    from the nearest box, as far as its points tell.
    """
    place, turn, half = boxes
    middle = tools.mean(axis=0)
    far = REACH_M + ROOM_M + float(np.linalg.norm(tools - middle, axis=1).max())
    near = np.linalg.norm(place - middle, axis=1) - np.linalg.norm(half, axis=1) < far
    x, y = out.T[..., None] * HAND[:, 0] + np.array([-out.T[1], out.T[0]])[..., None] * HAND[:, 1]
    hand = np.stack([x, y, np.broadcast_to(HAND[:, 2], x.shape)], -1) + tools[:, None]  # (w, p, 3)
    points = hand.reshape(-1, 3)
    local = np.abs((points - place[near, None]) @ turn[near])  # (n, w p, 3)
    apart = np.linalg.norm(np.maximum(local - half[near, None], 0.0), axis=-1).min(axis=0, initial=1.0)
    return np.asarray(apart.reshape(len(tools), -1).min(axis=1))


def boxes_about(model: mujoco.MjModel, data: mujoco.MjData, bodies: Collection[int]) -> tuple[Floats, Floats, Floats]:
    """Middles (n, 3), rotations (n, 3, 3) and half sides (n, 3) of all boxes that stand about, without the thing's own,
    the robot's, and planes.
    """
    roots = model.body_rootid
    mine = [*(int(roots[body]) for body in bodies), int(roots[model.site("p/gripper0_grip_site").bodyid[0]])]
    solid = (model.geom_contype | model.geom_conaffinity).astype(bool)
    solid &= model.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    solid &= ~np.isin(roots[model.geom_bodyid], mine)
    turn = data.geom_xmat[solid].reshape(-1, 3, 3)
    place = data.geom_xpos[solid] + np.einsum("bij,bj->bi", turn, model.geom_aabb[solid, :3])
    return place, turn, model.geom_aabb[solid, 3:]
