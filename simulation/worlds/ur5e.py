"""The UR5e with a Robotiq 2F-85 (simulation.worlds.plugins.Robot): Menagerie's models with slim meshes.

Joints, masses and the gripper's linkage are Menagerie's. Three things are ours: gains of the arm, which follows at
5 Hz; no weight of the arm, as its own controller takes it off; and of what touches things, the pads and one capsule.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from simulation import assets
from simulation.contracts import CameraSpec, Floats, Numbers
from simulation.control.kinematics import Arm
from simulation.control.motors import Gripper
from simulation.control.tool_pose import DeltaPose, Reach, euler

id = "ur5e"
MESHES = "ur5e"
ARM_XML, HAND_XML = "ur5e.xml", "2f85.xml"
PREFIX, HAND = "u/", "g/"
ARM_JOINTS = (
    "shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint",
)  # fmt: skip
OPEN, CLOSED = 0.0, 255.0  # command of the gripper's motor, as Menagerie scales it
DRIVER, DRIVER_CLOSED = f"{HAND}right_driver_joint", 0.8  # joint that tells the opening, and its end [rad]
TOOLS = (f"{HAND}tool",)
PADS = (f"{HAND}left_pad1", f"{HAND}right_pad1")
CAMERAS: tuple[CameraSpec, ...] = ()

ACTION = Numbers(
    "eef_delta_ur7",
    ("dx", "dy", "dz", "droll", "dpitch", "dyaw", "gripper"),
    ("m", "m", "m", "rad", "rad", "rad", "0 closed .. 1 open"),
    low=(-0.08, -0.08, -0.08, -0.5, -0.5, -0.5, 0.0),
    high=(0.08, 0.08, 0.08, 0.5, 0.5, 0.5, 1.0),
)
PROPRIOCEPTION = Numbers(
    "eef_pose_ur8",
    ("tool x", "tool y", "tool z", "sin yaw", "cos yaw", "tilt x", "tilt y", "opening"),
    ("m", "m", "m", "", "", "", "", "0 closed .. 1 open"),
)
CONTROL_HZ = 5
PIECES = 10
TIMESTEP: float | None = None
LONGEST_CHUNK = 64
MAX_STEP_M, MAX_STEP_RAD = 0.08, 0.5
GAINS = {"size3": (8000.0, 500.0), "size1": (2000.0, 120.0)}  # stiffness [N m/rad] and damping [N m s/rad]
STRONG = 3  # the shoulder's two joints and the elbow
HOME = np.array([-0.35, -1.75, 1.95, -1.77, -1.5708, -0.35])
START_JITTER = np.array([[-0.04, -0.06, -0.03, -0.2], [0.04, 0.06, 0.04, 0.2]])  # m: x, y, z; rad: yaw
WORKSPACE = np.array([[0.22, -0.50, 0.018], [0.78, 0.50, 0.60]])
"""Where the commanded tool position may go [m]: x, y, z lowest and highest."""


def build(meshes: Mapping[str, bytes]) -> mujoco.MjSpec:
    arm, hand = _opened(meshes[ARM_XML]), _opened(meshes[HAND_XML])
    _prepare_arm(arm)
    _prepare_hand(hand)
    arm.attach(hand, prefix=HAND, site=arm.site("attachment_site"))
    for body in arm.bodies[1:]:
        body.gravcomp = 1.0
    for geom in arm.geoms:
        seen = geom.group == 2
        geom.contype, geom.conaffinity = (0, 0) if seen else (1, 2)
    arm.assets = {name: content for name, content in meshes.items() if name.endswith(".stl")}
    return arm


def controller() -> DeltaPose:
    arm = Arm(build(assets.robot_meshes(MESHES)).compile(), ARM_JOINTS, TOOLS[0])
    reach = Reach(WORKSPACE, MAX_STEP_M, MAX_STEP_RAD)
    return DeltaPose("ur5e-delta-euler-1", arm, reach, PIECES, rotation=euler, gripper=Gripper(CLOSED, OPEN))


def start(controller: DeltaPose, rng: np.random.Generator, joints: Floats | None) -> Mapping[str, float]:
    """The tool near that of `joints` (6,) [rad], pointing down, with open fingers."""
    home = HOME if joints is None else joints
    jitter = rng.uniform(*START_JITTER)
    position = controller.arm.tool_pose(home)[0] + jitter[:3]
    reached, _ = controller.arm.solve(home, position, pointing_down(jitter[3]))
    controller.start_at(np.append(reached, OPEN))
    return dict(zip(ARM_JOINTS, reached.tolist(), strict=True))


def proprioception(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float32]:
    """Tool x, y, z [m, base frame], sin and cos of the tool's yaw, two tilt terms (x and y of the approach axis, 0 when
    it points straight down), opening of the fingers 0..1.
    """
    tool = model.site(PREFIX + TOOLS[0]).id
    place, rotation = data.site_xpos[tool], data.site_xmat[tool].reshape(3, 3)
    yaw = float(np.arctan2(-rotation[0, 1], rotation[1, 1]))
    opening = np.clip(1.0 - driver(model, data) / DRIVER_CLOSED, 0.0, 1.0)
    return np.array([*place, np.sin(yaw), np.cos(yaw), *rotation[:2, 0], opening], dtype=np.float32)


def driver(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Angle of the joint that closes the fingers [rad]: 0 open .. DRIVER_CLOSED."""
    return float(data.qpos[model.joint(PREFIX + DRIVER).qposadr[0]])


def pointing_down(yaw: float) -> Floats:
    """Quaternion wxyz (4,) of a tool whose x axis (approach) points down, turned about z by `yaw` [rad]."""
    down, quaternion = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]), np.empty(4)
    mujoco.mju_mulQuat(quaternion, np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]), down)
    return quaternion


def _opened(xml: bytes) -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_string(xml.decode("utf-8").replace(".obj", ".stl"))
    spec.meshdir = ""
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0
    for mesh in spec.meshes:
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    return spec


def _prepare_arm(arm: mujoco.MjSpec) -> None:
    """Its x axis away from the base, its own gains, no lamp and no key frame."""
    arm.body("base").quat = [1.0, 0.0, 0.0, 0.0]
    for light in [*arm.lights]:
        arm.delete(light)
    for key in [*arm.keys]:
        arm.delete(key)
    for number, actuator in enumerate(arm.actuators):
        stiffness, damping = GAINS["size3" if number < STRONG else "size1"]
        actuator.gainprm[0] = stiffness
        actuator.biasprm[1:3] = [-stiffness, -damping]


def _prepare_hand(hand: mujoco.MjSpec) -> None:
    """With a tool point between the pads, and without hulls of meshes, which slim meshes would change."""
    for geom in [*hand.geoms]:
        if geom.group == 3 and geom.type == mujoco.mjtGeom.mjGEOM_MESH:
            hand.delete(geom)
        elif geom.group == 2:
            geom.mass = 0.0
    for side in ("left", "right"):
        pad, half = hand.geom(f"{side}_pad1"), hand.geom(f"{side}_pad2")
        pad.pos, pad.size = [0.0, -0.0026, 0.01875], [0.011, 0.004, 0.01875]
        pad.friction = [1.5, 0.02, 0.0001]
        hand.delete(half)
    mount, base = hand.body("base_mount"), hand.body("base")
    mount.mass, mount.inertia, mount.explicitinertial = 0.1, [1e-4, 1e-4, 1e-4], True
    turned = [0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)]
    base.add_site(name="tool", pos=[0.0, 0.0, 0.145], quat=turned, group=5)
    capsule = mujoco.mjtGeom.mjGEOM_CAPSULE
    base.add_geom(name="palm", type=capsule, size=[0.036, 0.025, 0.0], pos=[0.0, 0.0, 0.045], group=3, mass=0.0)
