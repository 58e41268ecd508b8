"""What a thing is: parts that are seen or felt, how heavy they are, and how it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import ceil, cos, pi, sin
from typing import Literal

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.worlds.revolved import Mesh

Shape = Literal["box", "cylinder", "sphere", "capsule", "mesh"]
Role = Literal["solid", "seen", "felt"]
"""Whether a part is both seen and felt, or only one of them."""
Vector = tuple[float, float, float]
Colour = tuple[float, float, float]

NOWHERE: Vector = (0.0, 0.0, 0.0)
HIDDEN = 3  # the group of collision shapes that no picture shows


@dataclass(frozen=True)
class Part:
    """One geom. `size` [m] as MuJoCo wants it (half lengths; radius, half length), `at` [m] and `turn` (Euler angles
    about x, y, z [rad]) in the thing's frame. `colour`: one of the thing's, "" is its own. `own`: the share of its
    volume that no earlier part has, so that what overlaps is weighed once.
    """

    shape: Shape
    size: tuple[float, ...] = ()
    at: Vector = NOWHERE
    turn: Vector = NOWHERE
    role: Role = "solid"
    colour: str = ""
    mesh: Mesh | None = None
    own: float = 1.0

    @property
    def volume(self) -> float:
        """[m3], of what no earlier part has; 0 for what is only seen."""
        if self.role == "seen":
            return 0.0
        radius, *rest = self.size
        if self.shape == "box":
            return self.own * 8 * radius * rest[0] * rest[1]
        ball = 4 / 3 * pi * radius**3
        barrel = 2 * pi * radius**2 * rest[0] if rest else 0.0
        return self.own * {"sphere": ball, "cylinder": barrel, "capsule": ball + barrel}[self.shape]

    def outline(self) -> tuple[Floats, float]:
        """Points (n, 3) [m] in the thing's frame, and the radius [m] of the ball around each that the part reaches."""
        points, radius = _outline(self.shape, self.size)
        return points @ _rotation(self.turn).T + self.at, radius


@dataclass(frozen=True)
class Hollow:
    """A place inside of a thing: a box of half lengths `size` [m] around `at` [m]."""

    size: Vector
    at: Vector


@dataclass(frozen=True)
class Thing:
    """`colours`: further ones by name, beside its own. `density` [kg/m3], unless `mass` [kg] is given. `spin` [rad]:
    yaws up to this one either way look different. `friction`: as MuJoCo orders it. `rolls`: friction against rolling,
    for what is round. `inside`: where something is in it.
    """

    colour: Colour
    parts: tuple[Part, ...]
    density: float = 1000.0
    spin: float = pi
    colours: Mapping[str, Colour] = field(default_factory=dict)
    friction: Vector = (1.0, 0.005, 0.0001)
    rolls: bool = False
    shine: float = 0.2
    inside: Hollow | None = None
    mass: float | None = None

    @cached_property
    def rest_height(self) -> float:
        """From what it stands on to its frame [m]."""
        return max(radius - float(points[:, 2].min()) for points, radius in self._felt())

    @cached_property
    def height(self) -> float:
        """From what it stands on to its top [m]."""
        return self.rest_height + max(radius + float(points[:, 2].max()) for points, radius in self._felt())

    @cached_property
    def half_length(self) -> float:
        """How far it reaches along its x axis [m]."""
        return max(radius + float(np.abs(points[:, 0]).max()) for points, radius in self._felt())

    @cached_property
    def half_width(self) -> float:
        """How far it reaches along its y axis [m]."""
        return max(radius + float(np.abs(points[:, 1]).max()) for points, radius in self._felt())

    @cached_property
    def footprint(self) -> tuple[tuple[float, float], ...]:
        """Discs that cover what it stands on: the place of each along its x axis and its radius [m]."""
        if self.spin == 0.0:
            return (
                (
                    0.0,
                    max(radius + float(np.hypot(points[:, 0], points[:, 1]).max()) for points, radius in self._felt()),
                ),
            )
        count = ceil(self.half_length / self.half_width - 0.01)
        half = self.half_length / count
        return tuple(
            (half * (2 * number + 1) - self.half_length, float(np.hypot(half, self.half_width)))
            for number in range(count)
        )

    @cached_property
    def centre_of_mass(self) -> Floats:
        """(3,) [m] in its frame."""
        shares = np.array([part.volume for part in self.parts])
        centres = np.array([part.at for part in self.parts])
        centre: Floats = shares @ centres / shares.sum()
        return centre

    def _felt(self) -> list[tuple[Floats, float]]:
        return [part.outline() for part in self.parts if part.role != "seen"]

    def add_to(self, spec: mujoco.MjSpec, name: str) -> mujoco.MjsBody:
        """Add the thing as a free body; joint, body and first geom have its name."""
        self._add_materials(spec, name)
        body = spec.worldbody.add_body(name=name)
        body.add_freejoint(name=name)
        self.add_parts(spec, body, name)
        return body

    def add_parts(self, spec: mujoco.MjSpec, body: mujoco.MjsBody, name: str) -> None:
        default = spec.find_default("object")
        for number, part in enumerate(self.parts):
            geom = body.add_geom(
                default, name=name if number == 0 else f"{name}_{number}", **_shape_of(spec, part, name, number)
            )
            geom.pos, geom.quat = part.at, _quaternion(part.turn)
            geom.material = f"{name}_{part.colour}" if part.colour else name
            self._weigh(geom, part)
        if self.inside:
            box = mujoco.mjtGeom.mjGEOM_BOX
            body.add_site(
                name=f"{name}_inside",
                type=box,
                size=self.inside.size,
                pos=self.inside.at,
                group=5,
                rgba=[0.5, 0.5, 0.5, 0],
            )

    def _weigh(self, geom: mujoco.MjsGeom, part: Part) -> None:
        if part.role == "seen":
            geom.mass, geom.contype, geom.conaffinity = 0.0, 0, 0
            return
        if self.mass is None:
            geom.density = self.density * part.own
        else:
            geom.mass = self.mass * part.volume / sum(each.volume for each in self.parts)
        geom.friction = self.friction
        if self.rolls:
            geom.condim = 6
        if part.role == "felt":
            geom.group = HIDDEN

    def _add_materials(self, spec: mujoco.MjSpec, name: str) -> None:
        for material, colour in {
            name: self.colour,
            **{f"{name}_{key}": value for key, value in self.colours.items()},
        }.items():
            spec.add_material(name=material, rgba=[*colour, 1.0], specular=self.shine, shininess=self.shine)


def _shape_of(spec: mujoco.MjSpec, part: Part, name: str, number: int) -> dict[str, object]:
    if part.mesh is None:
        return {
            "type": getattr(mujoco.mjtGeom, f"mjGEOM_{part.shape.upper()}"),
            "size": [*part.size, 0.0, 0.0, 0.0][:3],
        }
    part.mesh.add_to(spec, f"{name}_{number}")
    return {"type": mujoco.mjtGeom.mjGEOM_MESH, "meshname": f"{name}_{number}"}


def _quaternion(turn: Vector) -> Floats:
    quaternion = np.empty(4)
    mujoco.mju_euler2Quat(quaternion, turn, "xyz")
    return quaternion


def _rotation(turn: Vector) -> Floats:
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, _quaternion(turn))
    return matrix.reshape(3, 3)


def _outline(shape: Shape, size: tuple[float, ...]) -> tuple[Floats, float]:
    if shape == "box":
        return np.array(list(product((-1.0, 1.0), repeat=3))) * size, 0.0
    if shape == "sphere":
        return np.zeros((1, 3)), size[0]
    if shape == "capsule":
        return np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]]), size[0]
    angles = np.arange(48) * (pi / 24)
    return np.array([[size[0] * cos(a), size[0] * sin(a), z] for a in angles for z in (-size[1], size[1])]), 0.0
