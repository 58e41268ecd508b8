"""A robot that is unlike the WidowX in everything: two joints in a plane, told their speeds 20 times a second, without
a gripper, with a camera on its hand. Nothing but this file and the registration knows it.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from simulation import catalogue, worlds
from simulation.catalogue import Robot
from simulation.contracts import CameraSpec, Floats, Numbers
from simulation.control.joints import JointVelocities

XML = """
<mujoco model="planar">
  <compiler angle="radian" autolimits="true"/>
  <default>
    <joint type="hinge" axis="0 0 1" armature="0.1" damping="1" range="-2.5 2.5"/>
    <geom type="capsule" size="0.012" contype="1" conaffinity="2" mass="0.3"/>
    <position kp="200" dampratio="1" inheritrange="1"/>
  </default>
  <worldbody>
    <body name="base" pos="0 0 0.06">
      <body name="upper" gravcomp="1">
        <joint name="shoulder"/>
        <geom name="upper" fromto="0 0 0 0.2 0 0"/>
        <body name="fore" pos="0.2 0 0" gravcomp="1">
          <joint name="elbow"/>
          <geom name="fore" fromto="0 0 0 0.15 0 0"/>
          <site name="tip" pos="0.15 0 0"/>
          <camera name="wrist" pos="0.1 0 0.1" xyaxes="0 -1 0 0.7 0 0.7" fovy="60"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder" joint="shoulder"/>
    <position name="elbow" joint="elbow"/>
  </actuator>
</mujoco>
"""


class Planar:
    MESHES = ""
    PREFIX = "p/"
    ACTION = Numbers("joint_velocity_2", ("shoulder", "elbow"), ("rad/s", "rad/s"), (-2.0, -2.0), (2.0, 2.0))
    PROPRIOCEPTION = Numbers("joints_2", ("shoulder", "elbow"), ("rad", "rad"))
    PIECES = 5
    CAMERAS = (CameraSpec("wrist", 320, 320),)
    LONGEST_CHUNK = 20
    TOOLS = ("tip",)
    PADS: tuple[str, ...] = ()
    START = np.array([0.5, 1.6])

    def __init__(self, control_hz: int = 20, timestep: float | None = None) -> None:
        self.id = "planar" if control_hz == 20 else f"planar_{control_hz}_hz"
        self.CONTROL_HZ = control_hz
        self.TIMESTEP = timestep

    def build(self, meshes: Mapping[str, bytes]) -> mujoco.MjSpec:
        return mujoco.MjSpec.from_string(XML)

    def controller(self) -> JointVelocities:
        ranges = np.array([[-2.5, 2.5], [-2.5, 2.5]])
        period = 1.0 / self.CONTROL_HZ
        return JointVelocities("planar-1", self.ACTION.names, ranges, self.PIECES, period=period, fastest=2.0)

    def start(
        self, controller: JointVelocities, rng: np.random.Generator, joints: Floats | None
    ) -> Mapping[str, float]:
        pose = self.START + rng.uniform(-0.1, 0.1, 2)
        controller.start_at(pose)
        return dict(zip(self.ACTION.names, pose.tolist(), strict=True))

    def proprioception(self, model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float32]:
        joints = [model.joint(f"p/{name}").qposadr[0] for name in self.ACTION.names]
        return np.array(data.qpos[joints], dtype=np.float32)


def register(monkeypatch: pytest.MonkeyPatch, robot: Planar, assets: str = "") -> None:
    """Enter the robot where robots are entered: ROBOTS, and the catalogue."""
    row = Robot(
        id=robot.id,
        name="Planar arm",
        description="Two joints.",
        control_hz=robot.CONTROL_HZ,
        action_space=robot.ACTION.id,
        action="speeds of the joints [rad/s]",
        proprioception=robot.PROPRIOCEPTION.id,
        longest_chunk=robot.LONGEST_CHUNK,
        scenes=("table",),
        cameras=robot.CAMERAS,
        assets=assets,
    )
    known = catalogue.robots()
    monkeypatch.setattr(catalogue, "robots", lambda: (*known, row))
    monkeypatch.setitem(worlds.ROBOTS, robot.id, robot)
    worlds.forget_worlds()
