"""What goals are judged by: positions, speeds and contacts after a control step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from simulation.catalogue_rows import CatalogueError
from simulation.contracts import Floats

if TYPE_CHECKING:  # processes without physics read goals, too
    import mujoco

REST_SPEED = 0.05  # a thing slower than this rests, and so does a drawer or a lid [m/s, rad/s]
SPHERE, ELLIPSOID, CYLINDER, BOX = 2, 4, 5, 6  # mujoco.mjtGeom


@dataclass(frozen=True)
class Hand:
    """The parts of a robot that goals speak of: the site of its tool, and the geoms of its pads."""

    tool: str
    pads: tuple[str, ...]


@dataclass(frozen=True)
class Extent:
    """A thing's box in its own frame [m]: corners `low` and `high` (3,). `radius`: of its footprint when upright."""

    low: Floats
    high: Floats
    radius: float


class View:
    """A world as goals see it. `data` needs current kinematics. Things are bodies with the geoms of their trees."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, hand: Hand) -> None:
        self._model, self._data = model, data
        self._tool = model.site(hand.tool).id
        self._pads = {model.geom(name).id for name in hand.pads}
        self._bodies: dict[str, int] = {}
        self._geoms: dict[str, frozenset[int]] = {}
        self._masks: dict[str, NDArray[np.bool_]] = {}
        self._extents: dict[str, Extent] = {}
        self._hand = self._geoms_of_hand()

    def position(self, name: str) -> Floats:
        """(3,) [m, base frame]; a live view."""
        return cast(Floats, self._data.xpos[self._body(name)])

    def rotation(self, name: str) -> Floats:
        """(3, 3), its own frame to the base frame; a live view."""
        return cast(Floats, self._data.xmat[self._body(name)].reshape(3, 3))

    def tool(self) -> Floats:
        return cast(Floats, self._data.site_xpos[self._tool])

    def tool_rotation(self) -> Floats:
        return cast(Floats, self._data.site_xmat[self._tool].reshape(3, 3))

    def tool_yaw(self) -> float:
        """[rad], of a tool that points about downwards."""
        rotation = self.tool_rotation()
        return float(np.arctan2(-rotation[0, 1], rotation[1, 1]))

    def yaw(self, name: str) -> float:
        """The turn of a thing about z [rad, -pi..pi]."""
        rotation = self.rotation(name)
        return float(np.arctan2(rotation[1, 0], rotation[0, 0]))

    def extent(self, name: str) -> Extent:
        if name not in self._extents:
            self._extents[name] = self._measure(self._body(name))
        return self._extents[name]

    def rest_height(self, name: str) -> float:
        """Of its origin over what it stands on, upright [m]."""
        return -float(self.extent(name).low[2])

    def top(self, name: str) -> float:
        """Of its upper side over its origin, upright [m]."""
        return float(self.extent(name).high[2])

    def resting(self, name: str) -> bool:
        """Whether it, or the joint that carries it, is slow. What has no joint rests."""
        body = self._body(name)
        first, count = int(self._model.body_dofadr[body]), min(3, int(self._model.body_dofnum[body]))
        return count == 0 or float(np.abs(self._data.qvel[first : first + count]).max()) < REST_SPEED

    def joint_share(self, name: str) -> float:
        """How far a slide or hinge has come from the lower end of its range (0) to the upper one (1)."""
        joint = self._named("joint", name)
        low, high = self._model.jnt_range[joint]
        return float((self._data.qpos[self._model.jnt_qposadr[joint]] - low) / (high - low))

    def joint_position(self, name: str) -> float:
        """Of a slide or hinge [m, rad]."""
        return float(self._data.qpos[self._model.jnt_qposadr[self._named("joint", name)]])

    def region(self, name: str) -> tuple[Floats, Floats, Floats]:
        """Of a region, which is a site: its middle (3,) [m], its rotation (3, 3), and its half sides (3,) [m]."""
        site = self._named("site", name)
        data = self._data
        return data.site_xpos[site], data.site_xmat[site].reshape(3, 3), self._model.site_size[site]

    def joint_resting(self, name: str) -> bool:
        return abs(float(self._data.qvel[self._model.jnt_dofadr[self._named("joint", name)]])) < REST_SPEED

    def outside(self, point: Floats, region: str) -> float:
        """How far a point (3,) [m, base frame] is from the inside of a region, which is a site [m]; 0 within it."""
        site = self._named("site", region)
        local = self._data.site_xmat[site].reshape(3, 3).T @ (point - self._data.site_xpos[site])
        size, kind = self._model.site_size[site], int(self._model.site_type[site])
        if kind == SPHERE:
            return max(0.0, float(np.linalg.norm(local)) - float(size[0]))
        if kind == CYLINDER:
            over = np.array([np.hypot(local[0], local[1]) - size[0], abs(local[2]) - size[1]])
        elif kind == ELLIPSOID:
            return max(0.0, float(np.linalg.norm(local / size)) - 1.0) * float(size.min())
        else:
            over = np.abs(local) - size
        return float(np.linalg.norm(np.maximum(over, 0.0)))

    def pads_touching(self, name: str) -> int:
        """How many of the pads touch the thing."""
        return len(self._neighbours(name) & self._pads)

    def touching(self, name: str, other: str) -> bool:
        return not self._geoms_of(other).isdisjoint(self._neighbours(name))

    def hand_touching(self, name: str) -> bool:
        """Whether any part of the gripper touches the thing."""
        return not self._hand.isdisjoint(self._neighbours(name))

    def supported(self, name: str) -> bool:
        """Whether the thing touches anything but the pads."""
        return bool(self._neighbours(name) - self._pads)

    def _neighbours(self, name: str) -> set[int]:
        """The geoms that the thing's touch, without its own."""
        pairs, mine = self._data.contact.geom, self._geoms_of(name)
        hits = pairs[self._masks[name][pairs].any(axis=1)]
        return set(hits.ravel().tolist()) - mine

    def _geoms_of(self, name: str) -> frozenset[int]:
        if name not in self._geoms:
            self._geoms[name] = frozenset(self._geoms_under(self._body(name)))
            self._masks[name] = np.isin(np.arange(self._model.ngeom), list(self._geoms[name]))
        return self._geoms[name]

    def _geoms_of_hand(self) -> frozenset[int]:
        """Those of the smallest part of the robot that has the tool and all pads."""
        body = int(self._model.site_bodyid[self._tool])
        while not self._pads <= (geoms := frozenset(self._geoms_under(body))) and body:
            body = int(self._model.body_parentid[body])
        return geoms

    def _geoms_under(self, root: int) -> Iterable[int]:
        """The geoms of a body and of all that hangs on it."""
        inside = {root}
        for body in range(root + 1, self._model.nbody):  # a parent comes before its children
            if int(self._model.body_parentid[body]) in inside:
                inside.add(body)
        return (geom for geom in range(self._model.ngeom) if int(self._model.geom_bodyid[geom]) in inside)

    def _measure(self, body: int) -> Extent:
        """Of the geoms of the body itself that touch things; of all of them where none does."""
        model = self._model
        own = [geom for geom in range(model.ngeom) if int(model.geom_bodyid[geom]) == body]
        solid = [geom for geom in own if model.geom_contype[geom] or model.geom_conaffinity[geom]] or own
        boxes = [_box(model, geom) for geom in solid] or [(np.zeros(3), np.zeros(3))]
        low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
        return Extent(low, high, float(np.abs([low[:2], high[:2]]).max()))

    def _body(self, name: str) -> int:
        if name not in self._bodies:
            self._bodies[name] = self._named("body", name)
        return self._bodies[name]

    def _named(self, kind: str, name: str) -> int:
        try:
            return int(getattr(self._model, kind)(name).id)
        except KeyError:
            raise CatalogueError(f"this world has no {kind} {name!r}") from None


def _box(model: mujoco.MjModel, geom: int) -> tuple[Floats, Floats]:
    """The corners of a geom's box along the axes of its body."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    axes = np.abs(_matrix(model.geom_quat[geom]))
    middle = np.array(model.geom_pos[geom])
    if kind == SPHERE:
        half = np.full(3, size[0])
    elif kind == CYLINDER:
        half = axes[:, 2] * size[1] + np.sqrt(np.maximum(0.0, 1.0 - axes[:, 2] ** 2)) * size[0]
    elif kind == BOX:
        half = axes @ size
    else:  # MuJoCo's own box of meshes and other shapes
        middle = middle + _matrix(model.geom_quat[geom]) @ model.geom_aabb[geom, :3]
        half = axes @ model.geom_aabb[geom, 3:]
    return middle - half, middle + half


def _matrix(quaternion: Floats) -> Floats:
    """(3, 3) of a quaternion w, x, y, z."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
