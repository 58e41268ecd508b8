"""LIBERO's scenes (simulation.worlds.plugins.Scene), as `make libero` has made them: one for each task.

Their frame is that of LIBERO's files, in which the robot stands at `BASE`. Seed n takes start state n modulo 50; seeds
from FRESH on, those of demonstrations, lie between two of them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import mujoco
import numpy as np

from simulation import assets
from simulation.contracts import Floats
from simulation.worlds import panda
from simulation.worlds.plugins import Look

FILES = "libero"
LOOK = Look("libero-1", shadows=True, reflections=True, mirrored=True)
"""As in LIBERO's data sets: with shadows, and left and right exchanged, because their pictures come from below up and
were turned by half a turn.
"""
FREE = 7  # numbers of a free joint
FRESH, BEYOND = 1_000_000, 0.2
MEMORY = 32 << 20
"""Bytes of MuJoCo's arena in a state. The bound of 5,000 contacts in robosuite's files makes it 1.3 GB, and a browser's
engine has 2 GB for all its states.
"""


class LiberoScene:
    """One scene. Nothing is read before it is asked for."""

    VARIANTS = ("",)
    LOOK = LOOK
    STARTS: Mapping[str, Floats] = {}

    def __init__(self, id: str) -> None:
        self.id = id

    @property
    def TARGETS(self) -> tuple[str, ...]:
        return tuple(_told()[self.id]["fixtures"])

    @property
    def BASE(self) -> Floats:
        return np.array(_told()[self.id]["base"])

    def objects(self, variant: str) -> tuple[str, ...]:
        return tuple(_told()[self.id]["objects"])

    def build(self, variant: str) -> mujoco.MjSpec:
        files = assets.robot_meshes(FILES)
        xml = files[f"{self.id}.xml"].decode()
        here = {name: content for name, content in files.items() if f'"{name}"' in xml}
        spec = mujoco.MjSpec.from_string(xml, assets=here)
        spec.assets = here
        spec.njmax = spec.nconmax = -1
        spec.memory = MEMORY
        return spec

    def sample(self, rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
        """Every joint, that of the robot included."""
        pose = pose_of(rng, starts_of(self.id), _joints(self.id))
        return {name: pose[first : first + size] for name, first, size in _joints(self.id)}


def pose_of(rng: np.random.Generator, starts: Floats, joints: Sequence[tuple[str, int, int]]) -> Floats:
    """The positions (nq,) for a generator: those of a start, or for a seed from FRESH on those between two starts, a
    little beyond either at most. What stands on another thing in both stands on it there.
    """
    seed = getattr(rng.bit_generator.seed_seq, "entropy", None)
    if not isinstance(seed, int) or seed < FRESH:
        chosen: Floats = starts[start_of(rng, len(starts))]
        return chosen
    one, other = starts[rng.choice(len(starts), 2, replace=False)]
    pose: Floats = one + rng.uniform(-BEYOND, 1.0 + BEYOND) * (other - one)
    for _, first, size in joints:
        if size == FREE:
            turn = pose[first + 3 : first + FREE]
            turn[:] = one[first + 3 : first + FREE]
    return pose


def start_of(rng: np.random.Generator, count: int) -> int:
    """Which start a generator stands for: its seed modulo their number."""
    seed = getattr(rng.bit_generator.seed_seq, "entropy", None)
    return seed % count if isinstance(seed, int) else int(rng.integers(count))


@cache
def starts_of(scene_id: str) -> Floats:
    """The start states (50, nq) in the order of LIBERO's own joints."""
    content = assets.robot_meshes(FILES)[f"{scene_id}.npy"]
    starts: Floats = np.load(io.BytesIO(content), allow_pickle=False)
    return starts


@cache
def _joints(scene_id: str) -> list[tuple[str, int, int]]:
    """Name in our world, first column of a start, and numbers of each joint."""
    found = []
    objects = {*_told()[scene_id]["objects"]}
    for name, first in _told()[scene_id]["joints"]:
        ours = panda.PREFIX + name if name.startswith(("robot0_", "gripper0_")) else name
        found.append((ours, first, FREE if name in objects else 1))
    return found


@cache
def _told() -> Mapping[str, Any]:
    told: Mapping[str, Any] = json.loads(assets.robot_meshes(FILES)["scenes.json"])
    return told
