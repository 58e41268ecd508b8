"""Joining a robot and a scene (simulation.worlds.plugins) into one flattened and hashed world."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import mujoco
import numpy as np

from simulation import assets, catalogue, composed, optional_rows
from simulation.contracts import PHYSICS, ArraySpec, Floats, SimulationError
from simulation.sleeping import apply_physics
from simulation.view_format import ANGLE_RAD, LENGTH_M, QUATERNION, steps_in
from simulation.worlds import bridge, cabinet, franka, kitchen, panda, table, ur5e, warehouse, widowx, workbench
from simulation.worlds.composition import ComposedScene
from simulation.worlds.libero import LiberoScene
from simulation.worlds.plugins import Look, Robot, Scene


def _robots(*known: Robot) -> dict[str, Robot]:
    return {robot.id: robot for robot in known}


def _scenes(*known: Scene) -> dict[str, Scene]:
    return {scene.id: scene for scene in known}


ROBOTS = _robots(widowx, panda, ur5e, franka)
_LIBERO = [LiberoScene(str(row["id"])) for row in optional_rows.rows("scenes")]
SCENES = _scenes(table, workbench, cabinet, warehouse, kitchen, *bridge.SCENES.values(), *_LIBERO)
SLOWEST_HZ, FASTEST_HZ = 5, 80
WORLDS_KEPT = 64
"""Compiled worlds that a process keeps: drafts of scenes come and go."""


class WorldError(SimulationError):
    """A robot or a scene that does not keep to simulation.worlds.plugins, or is not as the catalogue says."""


@dataclass(frozen=True)
class World:
    """One compiled robot scene. `xml` is flattened: with `meshes`, it is all that a browser or MuJoCo needs.

    `objects` are the free bodies and `targets` the places, by catalogue name. `sample` draws joint name -> positions.
    `view_scale` (nq,) is that of its views (simulation.view_format). `substeps`: physics steps in each of the
    `robot.PIECES` pieces of a control step. `physics`: the version that `model` is set to (contracts.PHYSICS).
    """

    robot: Robot
    scene: Scene
    variant: str
    xml: str
    meshes: Mapping[str, bytes]
    model: mujoco.MjModel
    scene_hash: str
    objects: tuple[str, ...]
    targets: tuple[str, ...]
    sample: Callable[[np.random.Generator], Mapping[str, Floats]]
    view_scale: Floats
    substeps: int
    physics: int

    @property
    def robot_id(self) -> str:
        return self.robot.id

    @property
    def scene_id(self) -> str:
        return self.scene.id

    @property
    def look(self) -> Look:
        return self.scene.LOOK

    @property
    def control_hz(self) -> int:
        return self.robot.CONTROL_HZ

    @property
    def action(self) -> ArraySpec:
        return self.robot.ACTION.array_spec("action")

    @property
    def action_chunk(self) -> ArraySpec:
        return self.robot.ACTION.array_spec("actions", None)

    @property
    def tool_site(self) -> str:
        """The site that goals judge."""
        return self.robot.PREFIX + self.robot.TOOLS[0]

    @property
    def pads(self) -> tuple[str, ...]:
        """The geoms that hold things."""
        return tuple(self.robot.PREFIX + name for name in self.robot.PADS)

    def camera(self, name: str) -> str:
        """The name in the model of a camera that policies call `name`. Raises WorldError, which lists the known."""
        known = {camera.name: self.robot.PREFIX + camera.name for camera in self.robot.CAMERAS}
        known |= {camera.name: camera.name for camera in catalogue.scene(self.scene_id).cameras}
        try:
            return known[name]
        except KeyError:
            raise WorldError(f"unknown camera {name!r}; {self.scene_id} has {', '.join(sorted(known))}") from None

    def steps_in(self, chunks: int) -> int:
        """The control steps in so many chunks of a fifth of a second (simulation.view_format)."""
        return steps_in(chunks, self.control_hz)

    def compile(self) -> mujoco.MjModel:
        """A new model of the same scene, whose visual fields may be changed."""
        return mujoco.MjModel.from_xml_string(self.xml, dict(self.meshes))


def engine_version() -> str:
    return f"mujoco {mujoco.__version__}"


def load_world(robot_id: str, scene_id: str, variant: str = "", physics: int = PHYSICS) -> World:
    """The world of a robot and a variant of a scene. It is kept.

    Raises CatalogueError for an unknown one, AssetError when files of it are missing, WorldError, and SimulationError
    for an unknown version of physics.
    """
    made = composed.find(scene_id)
    return _load(robot_id, scene_id, variant, repr(made.plan) if made else "", physics)


def forget_worlds() -> None:
    """Load every world anew when it is next asked for."""
    _load.cache_clear()


@lru_cache(WORLDS_KEPT)
def _load(robot_id: str, scene_id: str, variant: str, plan: str, physics: int) -> World:
    """`plan`: of a composed scene, whose drafts have one id and differ in it."""
    robot, scene = robot_of(robot_id), scene_of(scene_id, variant)
    meshes = dict(assets.robot_meshes(robot.MESHES)) if robot.MESHES else {}
    spec = scene.build(variant)
    meshes |= spec.assets
    stand = spec.worldbody.add_frame(pos=getattr(scene, "BASE", np.zeros(3)))
    spec.attach(robot.build(meshes), prefix=robot.PREFIX, frame=stand)
    spec.assets = meshes
    if robot.TIMESTEP is not None:
        spec.option.timestep = robot.TIMESTEP
    spec.compile()
    xml = spec.to_xml()
    model = mujoco.MjModel.from_xml_string(xml, meshes)
    apply_physics(model, physics)
    digest = hashlib.sha256(xml.encode())
    for name in sorted(meshes):
        digest.update(f"\n{name} {hashlib.sha256(meshes[name]).hexdigest()}".encode())
    return World(
        robot=robot,
        scene=scene,
        variant=variant,
        xml=xml,
        meshes=meshes,
        model=model,
        scene_hash=digest.hexdigest(),
        objects=scene.objects(variant),
        targets=scene.TARGETS,
        sample=lambda rng: scene.sample(rng, variant),
        view_scale=_view_scale(model),
        substeps=_substeps(robot, model.opt.timestep),
        physics=physics,
    )


def robot_of(robot_id: str) -> Robot:
    """The robot, which is as the catalogue says. Raises CatalogueError and WorldError."""
    row = catalogue.robot(robot_id)
    robot = ROBOTS.get(robot_id)
    if robot is None:
        raise WorldError(f"robots.yaml has {robot_id!r}, which is not among ROBOTS: {', '.join(sorted(ROBOTS))}")
    for name, told, here in (
        ("action_space", row.action_space, robot.ACTION.id),
        ("control_hz", row.control_hz, robot.CONTROL_HZ),
        ("proprioception", row.proprioception, robot.PROPRIOCEPTION.id),
        ("longest_chunk", row.longest_chunk, robot.LONGEST_CHUNK),
        ("cameras", row.cameras, robot.CAMERAS),
    ):
        if told != here:
            raise WorldError(f"{robot_id}: robots.yaml says {name} {_told(told)}, the robot itself {_told(here)}")
    return robot


def scene_of(scene_id: str, variant: str = "") -> Scene:
    """Raises CatalogueError, and WorldError for a scene or variant that there is not."""
    catalogue.scene(scene_id)
    made = composed.find(scene_id)
    scene = ComposedScene(made.plan) if made else SCENES.get(scene_id)
    if scene is None:
        raise WorldError(f"scenes.yaml has {scene_id!r}, which is not among SCENES: {', '.join(sorted(SCENES))}")
    if variant not in scene.VARIANTS:
        known = ", ".join(repr(name) for name in scene.VARIANTS)
        raise WorldError(f"{scene_id} has no variant {variant!r}; it has {known}")
    return scene


def _told(value: object) -> str:
    return ", ".join(camera.name for camera in value) or "none" if isinstance(value, tuple) else repr(value)


def _substeps(robot: Robot, timestep: float) -> int:
    """The physics steps in a piece of a control step. Raises WorldError unless they are a whole number."""
    if not SLOWEST_HZ <= robot.CONTROL_HZ <= FASTEST_HZ:
        raise WorldError(
            f"{robot.id}: expected a control rate of {SLOWEST_HZ}..{FASTEST_HZ} Hz, got {robot.CONTROL_HZ}"
        )
    wanted = 1.0 / robot.CONTROL_HZ / robot.PIECES / timestep
    substeps = round(wanted)
    if substeps < 1 or abs(wanted - substeps) > 1e-6:
        raise WorldError(
            f"{robot.id}: at {robot.CONTROL_HZ} Hz each of {robot.PIECES} pieces has {wanted:g} physics steps of "
            f"{timestep:g} s; expected a whole number: choose other PIECES or another TIMESTEP"
        )
    return substeps


def _view_scale(model: mujoco.MjModel) -> Floats:
    """What one unit of a view's row stands for, for each position."""
    kinds = {
        int(mujoco.mjtJoint.mjJNT_SLIDE): [LENGTH_M],
        int(mujoco.mjtJoint.mjJNT_HINGE): [ANGLE_RAD],
        int(mujoco.mjtJoint.mjJNT_BALL): [QUATERNION] * 4,
        int(mujoco.mjtJoint.mjJNT_FREE): [LENGTH_M] * 3 + [QUATERNION] * 4,
    }
    return np.array([unit for kind in model.jnt_type for unit in kinds[int(kind)]])
