"""The Franka Panda with its hand as robosuite models it (simulation.worlds.plugins.Robot), for LIBERO's scenes.

Its files are made by `make libero`. Actions, state and pictures are those of LIBERO's data sets: 20 Hz, torque control
of the tool (simulation.control.torque), a camera at the hand.
"""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np
from numpy.typing import NDArray

from simulation.contracts import LIBERO_ACTIONS, LIBERO_STATE, CameraSpec, Floats, Numbers
from simulation.control.torque import Parts, TorqueControl

id = "panda"
MESHES = "panda"
XML = "panda.xml"
PREFIX = "p/"
ARM_JOINTS = tuple(f"robot0_joint{number}" for number in range(1, 8))
FINGER_JOINTS = ("gripper0_finger_joint1", "gripper0_finger_joint2")
HAND = "robot0_right_hand"
TOOLS = ("gripper0_grip_site",)
PADS = ("gripper0_finger1_pad_collision", "gripper0_finger2_pad_collision")
CAMERAS = (CameraSpec("wrist", 640, 640),)

ACTION = Numbers(
    LIBERO_ACTIONS,
    ("dx", "dy", "dz", "rx", "ry", "rz", "gripper"),
    ("of 0.05 m", "of 0.05 m", "of 0.05 m", "of 0.5 rad", "of 0.5 rad", "of 0.5 rad", "-1 open .. 1 closed"),
    low=(-1.0,) * 7,
    high=(1.0,) * 7,
)
PROPRIOCEPTION = Numbers(
    LIBERO_STATE,
    ("tool x", "tool y", "tool z", "rotation x", "rotation y", "rotation z", "finger 1", "finger 2"),
    ("m", "m", "m", "rad", "rad", "rad", "m", "m"),
)
CONTROL_HZ = 20
TIMESTEP: float | None = None  # the scenes' own, 2 ms
PIECES = 25  # each a physics step
LONGEST_CHUNK = 64
REST = np.array([0.0, -1.61037389e-01, 0.0, -2.44459747, 0.0, 2.2267522, np.pi / 4])
"""The joints to which LIBERO resets the arm [rad]."""
FINGERS = np.array([0.020833, -0.020833])  # half open [m]


def build(meshes: Mapping[str, bytes]) -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_string(meshes[XML].decode(), assets=dict(meshes))
    spec.assets = {name: content for name, content in meshes.items() if name != XML}
    return spec


def controller() -> TorqueControl:
    parts = Parts(
        joints=_prefixed(ARM_JOINTS),
        tool=PREFIX + TOOLS[0],
        motors=tuple(f"{PREFIX}robot0_torq_j{number}" for number in range(1, 8)),
        fingers=(f"{PREFIX}gripper0_gripper_finger_joint1", f"{PREFIX}gripper0_gripper_finger_joint2"),
    )
    return TorqueControl("panda-osc-torque-1", parts, REST, PIECES)


def start(controller: TorqueControl, rng: np.random.Generator, joints: Floats | None) -> Mapping[str, float]:
    """The reset pose, from which robosuite's controller keeps its orientation; LIBERO's starts then say where it is."""
    controller.start_at(REST if joints is None else joints)
    return dict(zip((*ARM_JOINTS, *FINGER_JOINTS), (*REST.tolist(), *FINGERS.tolist()), strict=True))


def proprioception(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float32]:
    """As evaluation codes for LIBERO make it: tool position [m, the scene's frame], rotation vector of the hand's
    quaternion without a change of its sign, finger joints.
    """
    place = data.site_xpos[model.site(PREFIX + TOOLS[0]).id]
    fingers = [data.qpos[model.joint(PREFIX + name).qposadr[0]] for name in FINGER_JOINTS]
    vector = rotation_vector(data.xquat[model.body(PREFIX + HAND).id])
    return np.array([*place, *vector, *fingers], dtype=np.float32)


def rotation_vector(quaternion: Floats) -> Floats:
    """Axis times angle [rad, 0..2 pi] of a quaternion wxyz, as robosuite's `quat2axisangle` gives it."""
    w = min(1.0, max(-1.0, float(quaternion[0])))
    sine = np.sqrt(1.0 - w * w)
    return np.zeros(3) if sine < 1e-8 else np.asarray(quaternion[1:] * 2.0 * np.arccos(w) / sine)


def _prefixed(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(PREFIX + name for name in names)
