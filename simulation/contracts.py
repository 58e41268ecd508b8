"""The contracts between policy, world and recorder: shapes, units and frames. Needs numpy and nothing else.

Frames: the robot's base frame is the world frame; x points away from the robot, y to its left, z up; z = 0 is the
table top. What an action is, how many numbers it has and how often one is played is the robot's affair
(simulation.worlds.plugins).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

# BridgeData's convention, which the policies of this project speak. No part of a world or of the loop uses it.
ACTION_SPACE, PROPRIOCEPTION_SPACE = "eef_delta_bridge7", "eef_pose_bridge8"
# LIBERO's convention, which the policies of others speak that were trained for it.
LIBERO_ACTIONS, LIBERO_STATE = "eef_delta_libero7", "libero_state8"
CONTROL_HZ = 5
ACTION_DIM = 7
PROPRIOCEPTION_DIM = 8

AWAKE, SLEEPING = 1, 2
PHYSICS = SLEEPING
"""The version of physics that new episodes are played with: in the first one nothing sleeps (simulation.sleeping)."""

MAX_STEPS = 50
MAX_CHUNK = 64  # of any policy; a robot may want less

Floats = NDArray[np.float64]
Image = NDArray[np.uint8]
TerminationReason = Literal["success", "step_limit", "time_limit", "diverged", "policy_error"]


class SimulationError(Exception):
    """The base of all failures of the simulation."""


class SpecError(SimulationError, ValueError):
    """An array that is not what was declared."""


class PolicyFailure(SimulationError):
    """A policy raised, was too slow or returned something unusable. The reason names no policy."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class PolicyTooSlow(PolicyFailure):
    """A policy took longer over one inference than the limits allow."""


@dataclass(frozen=True)
class ArraySpec:
    """A declared array. None in `shape` is any length; `low` and `high` bound every element, ends included."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str
    unit: str
    low: float | None = None
    high: float | None = None

    def check(self, array: NDArray[Any]) -> None:
        """Raise SpecError unless `array` is as declared. The message says what was expected."""
        if not isinstance(array, np.ndarray):
            raise SpecError(f"{self.name}: expected {self._wanted()}, got {type(array).__name__}")
        fits = array.ndim == len(self.shape) and all(
            want is None or want == got for want, got in zip(self.shape, array.shape, strict=True)
        )
        if not fits or array.dtype != np.dtype(self.dtype):
            raise SpecError(f"{self.name}: expected {self._wanted()}, got {array.dtype}{list(array.shape)}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise SpecError(f"{self.name}: expected finite numbers [{self.unit}], got NaN or infinity")
        if array.size and self.low is not None and float(array.min()) < self.low:
            raise SpecError(f"{self.name}: expected at least {self.low} {self.unit}, got {array.min()}")
        if array.size and self.high is not None and float(array.max()) > self.high:
            raise SpecError(f"{self.name}: expected at most {self.high} {self.unit}, got {array.max()}")

    def _wanted(self) -> str:
        return f"{self.dtype}[{', '.join('any' if n is None else str(n) for n in self.shape)}]"


@dataclass(frozen=True)
class Numbers:
    """What the numbers of a vector are, in their order: an action, what a robot feels, a control memory.

    `id` names the convention, so that a policy can be compared with a robot. `low` and `high` bound each number and are
    empty where nothing does.
    """

    id: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("units", "low", "high"):
            got = len(getattr(self, name))
            if got != len(self) and (got or name == "units"):
                raise SpecError(f"{self.id}: {name}: expected {len(self)} as there are names, got {got}")

    def __len__(self) -> int:
        return len(self.names)

    def array_spec(self, name: str, *shape: int | None, dtype: str = "float64") -> ArraySpec:
        """An array of such vectors, whose last dimension they are."""
        return ArraySpec(name, (*shape, len(self)), dtype, ", ".join(dict.fromkeys(self.units)))


@dataclass(frozen=True)
class CameraSpec:
    """A camera picture that a policy needs: uint8 RGB, shape (height, width, 3)."""

    name: str
    height: int
    width: int

    def array_spec(self) -> ArraySpec:
        return ArraySpec(f"images[{self.name}]", (self.height, self.width, 3), "uint8", "RGB")


def openings(action_space: str, gripper: Floats) -> Floats:
    """How far a gripper is asked to be open, 0..1, by the last numbers (...) of actions of one of the conventions."""
    return (1.0 - gripper) / 2 if action_space == LIBERO_ACTIONS else gripper


def grippers(action_space: str, opening: Floats) -> Floats:
    """The last numbers of actions (...) for openings, 1 open: LIBERO takes -1 open or 1 closed, and nothing between."""
    return np.where(opening > 0.5, -1.0, 1.0) if action_space == LIBERO_ACTIONS else opening.clip(0.0, 1.0)


ACTION_CHUNK = ArraySpec("actions", (None, ACTION_DIM), "float64", "m, rad, gripper 0..1")
POLICY_CAMERA = CameraSpec("workspace", 128, 128)


@dataclass(frozen=True)
class Observation:
    """Everything that a policy sees.

    `images`: camera name -> uint8 (H, W, 3). `proprioception`: float32 (n,), what the robot feels (its PROPRIOCEPTION,
    simulation.worlds.plugins.Robot).
    """

    images: Mapping[str, Image]
    proprioception: NDArray[np.float32]
    instruction: str
    step: int


@dataclass(frozen=True)
class Embodiment:
    """What a robot in a scene accepts and shows, which decides what policies may be asked there.

    `cameras`: those of the scene and those that the robot carries, each at the largest size that it is rendered at.
    `longest_chunk`: the most actions that it takes at once. `composed`: the scene is one of moderators.
    """

    robot_id: str
    scene_id: str
    action_space: str
    rate_hz: int
    cameras: tuple[CameraSpec, ...]
    proprioception: str = PROPRIOCEPTION_SPACE
    longest_chunk: int = MAX_CHUNK
    composed: bool = False


class Actor(Protocol):
    """Turns observations into actions: a policy or a script. One instance plays one rollout at a time."""

    def reset(self, instruction: str, seed: int) -> None: ...

    def infer(self, observation: Observation) -> Floats:
        """The next n actions, float64 (n, size of the robot's action), 1 <= n <= the robot's longest chunk."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Chunking:
    """How the runner uses a chunk of actions, alike for every policy.

    `execute`: how many actions of a chunk are played before the next inference. `ensemble`: unless None, infer at
    every step and average all predictions for it, each weighted by ensemble ** age; `execute` is then ignored.
    """

    execute: int = 1
    ensemble: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.execute <= MAX_CHUNK:
            raise SpecError(f"execute: expected 1..{MAX_CHUNK}, got {self.execute}")
        if self.ensemble is not None and not 0.0 < self.ensemble <= 1.0:
            raise SpecError(f"ensemble: expected a weight in (0, 1], got {self.ensemble}")


@dataclass(frozen=True)
class Limits:
    """`wall_s` bounds the whole rollout, `infer_s` one call of the policy (seconds of wall time). A rollout ends with
    success, unless not `until_success`: then it goes on to its last step.
    """

    max_steps: int = MAX_STEPS
    wall_s: float = 60.0
    infer_s: float = 30.0
    until_success: bool = True


@dataclass(frozen=True)
class StartState:
    """Everything that physics needs to go on bit for bit, all float64.

    `time` [s]; `qpos` (nq,), `qvel` (nv,), `qacc_warmstart` (nv,) in MuJoCo's units; `control`: the memory of the
    robot's controller (simulation.worlds.plugins.Controller). `asleep` (ntree,): mjData.tree_asleep, or empty where
    nothing sleeps.
    """

    time: float
    qpos: Floats
    qvel: Floats
    qacc_warmstart: Floats
    control: Floats
    asleep: Floats = field(default_factory=lambda: np.empty(0))

    def hash(self, engine: str, scene_hash: str) -> str:
        """sha256 hex over engine version, scene and every bit of the state."""
        digest = hashlib.sha256(f"{engine}\n{scene_hash}\n".encode())
        for each in fields(self):
            digest.update(np.asarray(getattr(self, each.name), dtype="<f8").tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class StepRecord:
    """One control step: the action played, the state after it, and the seconds it took.

    `between` (n, nq): positions at every 40 ms of the rollout that fall into the step (simulation.view_format).
    """

    step: int
    action: Floats
    state: StartState
    between: Floats
    reward: float
    progress: float
    success: bool
    render_s: float
    infer_s: float
    physics_s: float


@dataclass(frozen=True)
class EpisodeResult:
    """The outcome of a rollout. `progress` is the best reached, 0..1; times are wall milliseconds.

    `success` and `progress` are None for an instruction without a goal. `task_id` and `slots`: what was understood.
    """

    steps: int
    success: bool | None
    progress: float | None
    total_reward: float
    termination_reason: TerminationReason
    error: str | None
    duration_ms: float
    render_ms: float
    infer_ms: float
    physics_ms: float
    task_id: str | None
    slots: Mapping[str, str] | None


class Listener:
    """Receives the events of a rollout. Every method does nothing unless it is overridden."""

    def on_start(self, start: StartState) -> None:
        pass

    def on_step(self, record: StepRecord) -> None:
        pass

    def on_end(self, result: EpisodeResult) -> None:
        pass
