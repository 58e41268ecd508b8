"""Joining a robot and a scene, each of them an XML and a Python file, into one flattened and hashed world."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType

import mujoco
import numpy as np

from simulation import assets, catalogue
from simulation.contracts import Floats
from simulation.view_format import ANGLE_RAD, LENGTH_M, QUATERNION
from simulation.worlds import table, widowx

ROBOTS: Mapping[str, ModuleType] = {"widowx": widowx}
SCENES: Mapping[str, ModuleType] = {"table": table}


@dataclass(frozen=True)
class World:
    """One compiled robot scene. `xml` is flattened: with `meshes`, it is all that a browser or MuJoCo needs.

    `objects` are the free bodies and `targets` the plates, by catalogue name. `sample` draws name -> (x, y, z, yaw) for
    all of them [m, rad, base frame]. `view_scale` (nq,) is that of its views (simulation.view_format).
    """

    robot_id: str
    scene_id: str
    xml: str
    meshes: Mapping[str, bytes]
    model: mujoco.MjModel
    scene_hash: str
    objects: tuple[str, ...]
    targets: tuple[str, ...]
    sample: Callable[[np.random.Generator], Mapping[str, Floats]]
    view_scale: Floats

    def compile(self) -> mujoco.MjModel:
        """A new model of the same scene, whose visual fields may be changed."""
        return mujoco.MjModel.from_xml_string(self.xml, dict(self.meshes))


def engine_version() -> str:
    return f"mujoco {mujoco.__version__}"


@cache
def load_world(robot_id: str, scene_id: str, fifth_object: bool = False) -> World:
    """The world of a robot and a scene. `fifth_object` adds a purple cube that no instruction names."""
    catalogue.robot(robot_id)
    catalogue.scene(scene_id)
    robot, scene = ROBOTS[robot_id], SCENES[scene_id]
    meshes = assets.robot_meshes(robot.MESHES)
    spec = scene.build(fifth_object)
    spec.attach(robot.build(meshes), prefix=robot.PREFIX, frame=spec.worldbody.add_frame())
    spec.assets = dict(meshes)
    spec.compile()
    xml = spec.to_xml()
    model = mujoco.MjModel.from_xml_string(xml, dict(meshes))
    digest = hashlib.sha256(xml.encode())
    for name in sorted(meshes):
        digest.update(f"\n{name} {hashlib.sha256(meshes[name]).hexdigest()}".encode())
    objects = scene.object_names(fifth_object)
    return World(
        robot_id=robot_id,
        scene_id=scene_id,
        xml=xml,
        meshes=meshes,
        model=model,
        scene_hash=digest.hexdigest(),
        objects=objects,
        targets=scene.TARGETS,
        sample=lambda rng: scene.sample(rng, objects),
        view_scale=_view_scale(model),
    )


def _view_scale(model: mujoco.MjModel) -> Floats:
    """What one unit of a view's row stands for, for each position."""
    kinds = {
        int(mujoco.mjtJoint.mjJNT_SLIDE): [LENGTH_M],
        int(mujoco.mjtJoint.mjJNT_HINGE): [ANGLE_RAD],
        int(mujoco.mjtJoint.mjJNT_BALL): [QUATERNION] * 4,
        int(mujoco.mjtJoint.mjJNT_FREE): [LENGTH_M] * 3 + [QUATERNION] * 4,
    }
    return np.array([unit for kind in model.jnt_type for unit in kinds[int(kind)]])
