"""The WidowX 250s (simulation.worlds.plugins.Robot): its XML, joints, start pose and BridgeData's actions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from simulation import assets
from simulation.contracts import CameraSpec, Floats, Numbers
from simulation.control.kinematics import Arm
from simulation.control.motors import Gripper
from simulation.control.tool_pose import DeltaPose, Reach, euler

id = "widowx"
MESHES = "wx250s"
PREFIX = "w/"  # not empty: that would give an unnamed default class, with which the flattened XML does not load
ARM_JOINTS = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
FINGER_CLOSED, FINGER_OPEN = 0.015, 0.037  # joint of the left finger [m]; the gap between the pads is 12 mm and 56 mm
TOOLS = ("tool",)
PADS = ("left_pad", "right_pad")
CAMERAS: tuple[CameraSpec, ...] = ()

ACTION = Numbers(
    "eef_delta_bridge7",
    ("dx", "dy", "dz", "droll", "dpitch", "dyaw", "gripper"),
    ("m", "m", "m", "rad", "rad", "rad", "0 closed .. 1 open"),
    low=(-0.05, -0.05, -0.05, -0.5, -0.5, -0.5, 0.0),
    high=(0.05, 0.05, 0.05, 0.5, 0.5, 0.5, 1.0),
)
PROPRIOCEPTION = Numbers(
    "eef_pose_bridge8",
    ("tool x", "tool y", "tool z", "sin yaw", "cos yaw", "tilt x", "tilt y", "opening"),
    ("m", "m", "m", "", "", "", "", "0 closed .. 1 open"),
)
CONTROL_HZ = 5
PIECES = 10  # equal steps of the joint targets from old to new in one control step
TIMESTEP: float | None = None
LONGEST_CHUNK = 64
MAX_STEP_M = 0.05  # longest move of the commanded tool position in one control step
MAX_STEP_RAD = 0.5  # longest turn of the commanded tool in one control step

# The parts of the control memory (contracts.StartState.control).
JOINTS, FINGER, POSITION, QUATERNION = slice(0, 6), 6, slice(7, 10), slice(10, 14)

# SimplerEnv's start (arm joints [rad]); the tool stands 13.5 cm over the table and points down.
START_ARM = np.array([-0.01840777, 0.0398835, 0.22242722, -0.00460194, 1.36524296, 0.00153398])
# The seeded start pose of the tool: lowest and highest offset from the start [m: x, y, z; rad: yaw].
START_JITTER = np.array([[-0.03, -0.04, -0.02, -0.2], [0.03, 0.04, 0.03, 0.2]])
# Where the commanded tool position may go [m]: x, y, z lowest and highest. Below z = 16 mm the finger tips meet the
# table.
WORKSPACE = np.array([[0.12, -0.28, 0.016], [0.46, 0.28, 0.30]])


def build(meshes: Mapping[str, bytes]) -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_string(Path(__file__).with_suffix(".xml").read_text("utf-8"))
    spec.assets = dict(meshes)
    return spec


def controller() -> DeltaPose:
    arm = Arm(build(assets.robot_meshes(MESHES)).compile(), ARM_JOINTS, TOOLS[0])
    reach = Reach(WORKSPACE, MAX_STEP_M, MAX_STEP_RAD)
    return DeltaPose(
        "widowx-delta-euler-1", arm, reach, PIECES, rotation=euler, gripper=Gripper(FINGER_CLOSED, FINGER_OPEN)
    )


def start(controller: DeltaPose, rng: np.random.Generator, joints: Floats | None) -> Mapping[str, float]:
    """The tool near that of `joints` (6,) [rad], pointing down, with open fingers."""
    home = START_ARM if joints is None else joints
    jitter = rng.uniform(*START_JITTER)
    position = controller.arm.tool_pose(home)[0] + jitter[:3]
    reached, _ = controller.arm.solve(home, position, pointing_down(jitter[3]))
    controller.start_at(np.append(reached, FINGER_OPEN))
    fingers = {"left_finger": FINGER_OPEN, "right_finger": -FINGER_OPEN}
    return dict(zip(ARM_JOINTS, reached.tolist(), strict=True)) | fingers


def proprioception(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float32]:
    """Tool x, y, z [m, base frame], sin and cos of the tool's yaw, two tilt terms (x and y of the approach axis, 0 when
    it points straight down), finger opening 0..1.
    """
    tool = model.site(f"{PREFIX}{TOOLS[0]}").id
    place, rotation = data.site_xpos[tool], data.site_xmat[tool].reshape(3, 3)
    yaw = float(np.arctan2(-rotation[0, 1], rotation[1, 1]))
    opening = (finger(model, data) - FINGER_CLOSED) / (FINGER_OPEN - FINGER_CLOSED)
    return np.array([*place, np.sin(yaw), np.cos(yaw), *rotation[:2, 0], np.clip(opening, 0.0, 1.0)], dtype=np.float32)


def finger(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Position of the left finger's joint [m]."""
    return float(data.qpos[model.joint(f"{PREFIX}left_finger").qposadr[0]])


def pointing_down(yaw: float) -> Floats:
    """Quaternion wxyz (4,) of a tool whose x axis (approach) points down, turned about z by `yaw` [rad]."""
    down, quaternion = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0]), np.empty(4)
    mujoco.mju_mulQuat(quaternion, np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]), down)
    return quaternion
