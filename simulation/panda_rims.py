"""Where the Panda's open hand finds room to take a thing by its rim: one finger inside, the other outside."""

from __future__ import annotations

from collections.abc import Collection

import mujoco
import numpy as np

from simulation.contracts import Floats

INSET_M = 0.006  # of the tool from the rim's outer side
ROOM_M = 0.03  # from which more room is no better
OVER = np.array([0.0, 0.0, 0.10])  # from where it comes down [m]
WAYS = np.deg2rad(np.arange(0, 360, 30))
HAND = np.array(  # of the open hand, seen from the tool: out along the line between the fingers, across it, up [m]
    [[out, across, up] for out in (0.045, 0.055) for across in (-0.012, 0.012) for up in (0.0, 0.03, 0.06)]
    + [[out, across, 0.11] for out in (-0.10, -0.05, 0.05, 0.10) for across in (-0.03, 0.03)]
    + [[out, across, up] for out in (-0.05, 0.05) for across in (-0.05, 0.05) for up in (0.17, 0.23)]  # the wrist
)


def best_rim(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    bodies: Collection[int],
    points: Floats,
    height: float,
    way: Floats,
    tries: int,
) -> tuple[Floats, float]:
    """The place (2,) [m] at the rim of a thing, whose corners are `points`, and the yaw of the line between the fingers
    [rad]: that with the most room, here, over it, and at the other end of `way` (3,) [m], and of those with enough the
    one that turns the hand least. `bodies`: the thing, and what it is to stand on, which take no room. `tries`: how
    many of the best have failed, and are passed over.
    """
    middle = (points[:, :2].max(0) + points[:, :2].min(0)) / 2
    boxes = _boxes(model, data, bodies)
    found = []
    for angle in WAYS:
        out = np.array([np.cos(angle), np.sin(angle)])
        spot = middle + out * (float(((points[:, :2] - middle) @ out).max()) - INSET_M)
        yaw = angle % np.pi - np.pi / 2  # of the line, which is y at a yaw of 0
        tool = np.array([*spot, height])
        room = min(_room(place, out, boxes) for place in (tool, tool + OVER, tool + way))
        found.append((min(room, ROOM_M), -abs(yaw), tuple(spot), float(yaw)))
    _, _, spot, yaw = sorted(found, reverse=True)[tries % len(found)]
    return np.array(spot), yaw


def _room(tool: Floats, out: Floats, boxes: tuple[Floats, Floats, Floats]) -> float:
    """The distance [m] of the open hand from the nearest box, as far as its points tell."""
    place, turn, half = boxes
    frame = np.array([[out[0], -out[1], 0.0], [out[1], out[0], 0.0], [0.0, 0.0, 1.0]])
    points = tool + HAND @ frame.T  # (p, 3)
    local = np.einsum("bji,pbj->pbi", turn, points[:, None] - place)
    return float(np.linalg.norm(np.maximum(np.abs(local) - half, 0.0), axis=-1).min(initial=1.0))


def _boxes(model: mujoco.MjModel, data: mujoco.MjData, bodies: Collection[int]) -> tuple[Floats, Floats, Floats]:
    """Middles (n, 3), rotations (n, 3, 3) and half sides (n, 3) of all boxes that stand about, without the thing's own,
    the robot's, and planes.
    """
    roots = model.body_rootid
    mine = {*(int(roots[body]) for body in bodies), int(roots[model.site("p/gripper0_grip_site").bodyid[0]])}
    solid = [
        geom
        for geom in range(model.ngeom)
        if (model.geom_contype[geom] or model.geom_conaffinity[geom])
        and int(roots[model.geom_bodyid[geom]]) not in mine
        and model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_PLANE
    ]
    turn = data.geom_xmat[solid].reshape(-1, 3, 3)
    place = data.geom_xpos[solid] + np.einsum("bij,bj->bi", turn, model.geom_aabb[solid, :3])
    return place, turn, model.geom_aabb[solid, 3:]
