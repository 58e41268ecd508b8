"""A robot in a scene without an environment, and a hand that tests lead from place to place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import mujoco
import numpy as np

from simulation import assets
from simulation.contracts import Floats
from simulation.control.tool_pose import DeltaPose
from simulation.expert import command_yaw
from simulation.worlds import bridge, cabinet, widowx, workbench
from simulation.worlds.plugins import Scene
from simulation.worlds.widowx import POSITION, QUATERNION

SCENES: Mapping[str, Scene] = {scene.id: scene for scene in (workbench, cabinet, *bridge.SCENES.values())}
VARIANTS = [(name, variant) for name, scene in SCENES.items() for variant in scene.VARIANTS]
SETTLE_STEPS = 50
STILL = np.zeros(3)
TRAVEL = 0.18  # height of the tool [m] at which things are carried: high up, the arm reaches less far


@cache
def flattened(scene_id: str, variant: str) -> tuple[str, mujoco.MjModel]:
    """The XML of the WidowX in a scene, and the model that MuJoCo makes of it alone."""
    meshes = assets.robot_meshes(widowx.MESHES)
    spec = SCENES[scene_id].build(variant)
    spec.attach(widowx.build(meshes), prefix=widowx.PREFIX, frame=spec.worldbody.add_frame())
    spec.assets = dict(meshes)
    spec.compile()
    xml = spec.to_xml()
    return xml, mujoco.MjModel.from_xml_string(xml, dict(meshes))


@dataclass
class Stage:
    """One scene with the robot in it, and a hand that a test leads from place to place [m, rad, base frame]."""

    scene_id: str
    variant: str = ""
    controller: DeltaPose = field(default_factory=widowx.controller)

    def __post_init__(self) -> None:
        self.scene = SCENES[self.scene_id]
        self.model = flattened(self.scene_id, self.variant)[1]
        self.data = mujoco.MjData(self.model)

    def reset(self, seed: int) -> Stage:
        """As the environment starts: positions of the seed, the arm near its start pose, then a moment to settle."""
        rng = np.random.default_rng(seed)
        mujoco.mj_resetData(self.model, self.data)
        for name, positions in self.scene.sample(rng, self.variant).items():
            self.joint(name)[:] = positions
        for name, position in widowx.start(self.controller, rng, self.scene.STARTS.get("widowx")).items():
            self.joint(widowx.PREFIX + name)[0] = position
        self.data.ctrl[:] = self.controller.memory[:7]
        self.wait(SETTLE_STEPS)
        return self

    def wait(self, steps: int) -> None:
        mujoco.mj_step(self.model, self.data, steps)
        mujoco.mj_kinematics(self.model, self.data)

    def joint(self, name: str) -> Floats:
        """A view of the joint's positions."""
        joint = self.model.joint(name)
        first = int(joint.qposadr[0])
        return self.data.qpos[first : first + (7 if int(joint.type[0]) == mujoco.mjtJoint.mjJNT_FREE else 1)]

    def place(self, name: str) -> Floats:
        return self.data.body(name).xpos.copy()

    def site(self, name: str) -> Floats:
        return self.data.site(name).xpos.copy()

    def yaw(self, name: str) -> float:
        rotation = self.data.body(name).xmat
        return float(np.arctan2(rotation[3], rotation[0]))

    def inside(self, name: str, region: str) -> bool:
        """Whether a thing's middle is in a box of the scene."""
        site = self.data.site(region)
        local = site.xmat.reshape(3, 3).T @ (self.place(name) - site.xpos)
        return bool((np.abs(local) <= self.model.site(region).size).all())

    def act(self, move: Floats, turn: float, opening: float) -> None:
        for piece in self.controller.command(np.array([*move, 0.0, 0.0, turn, opening])):
            self.data.ctrl[:] = piece
            mujoco.mj_step(self.model, self.data, 10)
        mujoco.mj_kinematics(self.model, self.data)

    def go(self, to: Floats | list[float], opening: float, yaw: float = 0.0, longest: float = 0.04) -> None:
        """Lead the commanded tool to a place, pointing down with this yaw or half a turn on, and let it arrive."""
        for _ in range(60):
            memory = self.controller.memory
            error = np.asarray(to) - memory[POSITION]
            turn = (yaw - command_yaw(memory[QUATERNION]) + np.pi / 2) % np.pi - np.pi / 2
            length = float(np.linalg.norm(error))
            if length < 1e-3 and abs(turn) < 1e-2:
                break
            self.act(error * min(1.0, longest / max(length, 1e-9)), float(np.clip(turn, -0.35, 0.35)), opening)
        for _ in range(2):
            self.act(STILL, 0.0, opening)

    def grip(self, opening: float) -> None:
        for _ in range(2):
            self.act(STILL, 0.0, opening)

    def rise(self, opening: float, height: float) -> None:
        x, y, _ = self.controller.memory[POSITION]
        self.go([x, y, height], opening, command_yaw(self.controller.memory[QUATERNION]))

    def grasp(self, at: Floats, yaw: float = 0.0, above: float = 0.10) -> None:
        """Come from above, and close the fingers across `yaw`."""
        self.go([at[0], at[1], at[2] + above], 1.0, yaw)
        self.go([at[0], at[1], max(at[2] + 0.002, widowx.WORKSPACE[0, 2])], 1.0, yaw)
        self.grip(0.0)

    def pick(self, name: str) -> None:
        """Grasp a thing across its narrow side, and lift it."""
        self.grasp(self.place(name), self.yaw(name))
        self.rise(0.0, TRAVEL)

    def set_down(self, x: float, y: float, height: float) -> None:
        """Carry what is held over a place, lower the tool to a height, and let go."""
        yaw = command_yaw(self.controller.memory[QUATERNION])
        self.go([x, y, TRAVEL], 0.0, yaw)
        self.go([x, y, height], 0.0, yaw)
        self.grip(1.0)
        self.rise(1.0, TRAVEL)
