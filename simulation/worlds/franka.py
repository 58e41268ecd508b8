"""The Franka Panda with its hand (simulation.worlds.plugins.Robot), as gymnasium-robotics' kitchen models it.

Links, masses and limits are its own. Three things are ours: gains of the arm, which follows at 5 Hz; no weight of the
arm, as its own controller takes it off; and of what touches things, fingers, palm and forearm alone. LIBERO's Panda
(simulation.worlds.panda) is another model, with other actions.
"""

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
from simulation.control.tool_pose import DeltaPose, Reach, axis_angle

id = "franka"
MESHES = "kitchen"
PREFIX = "f/"
CHAIN = "chain.xml"
ARM_JOINTS = tuple(f"robot:panda0_joint{number}" for number in range(1, 8))
FINGER_JOINTS = ("robot:panda0_finger_joint1", "robot:panda0_finger_joint2")
OPEN, CLOSED = 0.04, 0.0  # of a finger [m]
TOOLS = ("tool",)
PADS = ("left_pad", "right_pad")
CAMERAS: tuple[CameraSpec, ...] = ()

ACTION = Numbers(
    "eef_delta_franka7",
    ("dx", "dy", "dz", "rx", "ry", "rz", "gripper"),
    ("m", "m", "m", "rad", "rad", "rad", "0 closed .. 1 open"),
    low=(-0.08, -0.08, -0.08, -0.5, -0.5, -0.5, 0.0),
    high=(0.08, 0.08, 0.08, 0.5, 0.5, 0.5, 1.0),
)
PROPRIOCEPTION = Numbers(
    "eef_pose_franka8",
    ("tool x", "tool y", "tool z", "turn w", "turn x", "turn y", "turn z", "opening"),
    ("m", "m", "m", "", "", "", "", "0 closed .. 1 open"),
)
CONTROL_HZ = 5
PIECES = 10
TIMESTEP: float | None = None
LONGEST_CHUNK = 64
MAX_STEP_M, MAX_STEP_RAD = 0.08, 0.5
HOME = np.array([0.469, -0.607, 0.367, -2.806, -2.014, 0.711, -0.656])
"""Joints of the start, to which the arm turns where it is free [rad]."""
START = np.array([0.40, 0.25, 0.40])  # of the tool [m]
START_JITTER = np.array([[-0.04, -0.06, -0.05], [0.04, 0.06, 0.05]])  # m
WORKSPACE = np.array([[0.05, -0.60, -0.15], [0.85, 0.85, 1.0]])
"""Where the commanded tool position may go [m]: x, y, z lowest and highest."""
AHEAD = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Axes of a tool that points away from the base, with fingers that close sideways: x down, y across, z ahead."""


def build(meshes: Mapping[str, bytes]) -> mujoco.MjSpec:
    xml = Path(__file__).with_suffix(".xml").read_text("utf-8")
    used = {name: content for name, content in meshes.items() if f'"{name}"' in xml and name.endswith(".stl")}
    spec = mujoco.MjSpec.from_string(xml, include={CHAIN: meshes[CHAIN]}, assets=used)
    spec.assets = used
    for body in spec.bodies[1:]:
        body.gravcomp = 1.0
    _prepare_hand(spec)
    return spec


def controller() -> DeltaPose:
    arm = Arm(build(assets.robot_meshes(MESHES)).compile(), ARM_JOINTS, TOOLS[0], HOME)
    reach = Reach(WORKSPACE, MAX_STEP_M, MAX_STEP_RAD)
    return DeltaPose(
        "franka-delta-axis-angle-1", arm, reach, PIECES, rotation=axis_angle, gripper=Gripper(CLOSED, OPEN)
    )


def start(controller: DeltaPose, rng: np.random.Generator, joints: Floats | None) -> Mapping[str, float]:
    """The tool near START, pointing ahead, with open fingers. `joints`: near which to find those of the arm (7,)."""
    home, quaternion = HOME if joints is None else joints, np.empty(4)
    mujoco.mju_mat2Quat(quaternion, AHEAD.ravel())
    reached, _ = controller.arm.solve(home, START + rng.uniform(*START_JITTER), quaternion)
    controller.start_at(np.append(reached, OPEN))
    return dict(zip((*ARM_JOINTS, *FINGER_JOINTS), (*reached.tolist(), OPEN, OPEN), strict=True))


def proprioception(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float32]:
    """Tool x, y, z [m, base frame], its turn from AHEAD as a quaternion wxyz with w of at least 0 [base frame], opening
    of the fingers 0..1.
    """
    tool = model.site(PREFIX + TOOLS[0]).id
    place, rotation = data.site_xpos[tool], data.site_xmat[tool].reshape(3, 3)
    fingers = [float(data.qpos[model.joint(PREFIX + name).qposadr[0]]) for name in FINGER_JOINTS]
    opening = np.clip(sum(fingers) / 2 / OPEN, 0.0, 1.0)
    turn = np.empty(4)
    mujoco.mju_mat2Quat(turn, (rotation @ AHEAD.T).ravel())
    turn = turn if turn[0] >= 0.0 else -turn
    return np.array([*place, *turn, opening], dtype=np.float32)


def _prepare_hand(spec: mujoco.MjSpec) -> None:
    """A pad for each finger instead of its many capsules, a palm, and a tool point between the pads."""
    box, capsule = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CAPSULE
    for side, sign in (("left", 1.0), ("right", -1.0)):
        finger = spec.body(f"panda0_{side}finger")
        for geom in [*finger.geoms]:
            if geom.type in (box, capsule):
                spec.delete(geom)
        touching = {"type": box, "contype": 1, "conaffinity": 2, "condim": 4, "group": 3, "mass": 0.0}
        finger.add_geom(
            name=f"{side}_pad", size=[0.012, 0.006, 0.017], pos=[0.0, sign * 0.006, 0.075], friction=[1.5, 0.03, 1e-4],
            **touching,
        )  # fmt: skip
        finger.add_geom(name=f"{side}_finger", size=[0.012, 0.008, 0.025], pos=[0.0, sign * 0.014, 0.035], **touching)
    hand, turned = spec.body("panda0_link7"), [0.92388, 0.0, 0.0, -0.382683]
    hand.add_site(name="tool", pos=[0.0, 0.0, 0.2404], quat=turned, group=5)
    hand.add_geom(
        name="palm", type=box, size=[0.03, 0.1, 0.03], pos=[0.0, 0.0, 0.135], quat=turned,
        contype=1, conaffinity=2, group=3, mass=0.0,
    )  # fmt: skip
