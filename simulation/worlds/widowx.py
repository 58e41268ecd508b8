"""The WidowX 250s: its XML, joints and start pose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np

MESHES = "wx250s"
PREFIX = "w/"  # not empty: that would give an unnamed default class, with which the flattened XML does not load
ARM_JOINTS = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
FINGER_CLOSED, FINGER_OPEN = 0.015, 0.037  # joint of the left finger [m]; the gap between the pads is 12 mm and 56 mm

# SimplerEnv's start (arm joints [rad]); the tool stands 13.5 cm over the table and points down.
START_ARM = np.array([-0.01840777, 0.0398835, 0.22242722, -0.00460194, 1.36524296, 0.00153398])
# Where the commanded tool position may go [m]: x, y, z lowest and highest. Below z = 16 mm the finger tips meet the
# table.
WORKSPACE = np.array([[0.12, -0.28, 0.016], [0.46, 0.28, 0.30]])


def build(meshes: Mapping[str, bytes]) -> mujoco.MjSpec:
    spec = mujoco.MjSpec.from_string(Path(__file__).with_suffix(".xml").read_text("utf-8"))
    spec.assets = dict(meshes)
    return spec
