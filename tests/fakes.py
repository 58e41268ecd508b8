"""A small world and small policies that keep the contracts, and need neither physics nor pictures."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import numpy as np

from policies.base import PolicyError
from policies.models import Policy
from robots.players import Player
from simulation.contracts import PHYSICS, CameraSpec, Chunking, Floats, Observation, StartState
from simulation.goals import GoalProgress
from simulation.variation import NO_VARIATION, Variation
from simulation.view_format import ROWS_PER_CHUNK
from simulation.worlds import widowx
from simulation.worlds.plugins import Look

NQ = NV = 4
ENGINE, SCENE_HASH = "fake-1", "f" * 64
VIEW_SCALE = np.full(NQ, 0.001)


@dataclass
class FakeOutcome:
    judgement: GoalProgress
    between: Floats
    diverged: bool = False
    physics_s: float = 0.0


@dataclass(frozen=True)
class FakeWorld:
    """As much of a world as the loop and the recording ask. Its robot is the WidowX in numbers alone."""

    view_scale: Floats = field(default_factory=lambda: VIEW_SCALE)
    scene_id: str = "table"
    robot = widowx
    look = Look()
    control_hz = widowx.CONTROL_HZ
    action_chunk = widowx.ACTION.array_spec("actions", None)

    def steps_in(self, chunks: int) -> int:
        return chunks


class FakeController:
    id = "fake-1"


class FakeEnvironment:
    """Its state is the sum of the actions played, beginning with numbers that the seed stands for."""

    engine_version, scene_hash, physics = ENGINE, SCENE_HASH, PHYSICS
    hold_steps, meaning = 5, None

    def __init__(self) -> None:
        self.world = FakeWorld()
        self.controller = FakeController()
        self.variation = NO_VARIATION
        self.goal: object | None = "success_at"  # of any instruction
        self._state = np.zeros(NQ)
        self._time = 0.0
        self.success_at = 10**6
        self._steps = 0

    def reset(self, seed: int) -> StartState:
        self._state, self._time, self._steps = np.random.default_rng(seed).normal(size=NQ), 0.0, 0
        return self.state()

    def set_variation(self, variation: Variation) -> None:
        self.variation = variation

    def restore(self, state: StartState) -> None:
        self._state, self._time, self._steps = state.qpos.copy(), state.time, 0

    def state(self) -> StartState:
        return StartState(self._time, self._state.copy(), np.zeros(NV), np.zeros(NV), np.full(14, self._state[0]))

    def set_instruction(self, text: str) -> None:
        self._steps = 0

    def observe(self, instruction: str, step: int = 0, cameras: tuple[CameraSpec, ...] = ()) -> Observation:
        images = {camera.name: np.zeros((camera.height, camera.width, 3), np.uint8) for camera in cameras}
        return Observation(images, np.zeros(8, np.float32), instruction, step)

    def step(self, action: Floats) -> FakeOutcome:
        parts = np.arange(1, ROWS_PER_CHUNK + 1)[:, None] / ROWS_PER_CHUNK
        between = self._state + parts * action[:NQ]
        self._state = between[-1]
        self._time += 0.2
        self._steps += 1
        done = self._steps >= self.success_at
        return FakeOutcome(GoalProgress(done, 1.0 if done else 0.1), between)

    def close(self) -> None:
        pass


@dataclass
class FakePolicy:
    """Moves by `stride` each step. `raises`: what its inference raises; `pause_s`: how long it thinks."""

    stride: float = 0.01
    raises: Exception | None = None
    answer: Floats | None = None
    pause_s: float = 0.0
    resets: list[tuple[str, int]] = field(default_factory=list)
    closed: int = 0

    def reset(self, instruction: str, seed: int) -> None:
        self.resets.append((instruction, seed))

    def infer(self, observation: Observation) -> Floats:
        if self.pause_s:
            time.sleep(self.pause_s)
        if self.raises is not None:
            raise self.raises
        return np.full((1, 7), self.stride) if self.answer is None else self.answer

    def close(self) -> None:
        self.closed += 1


class FakeRuntime:
    """A worker runtime whose policies are set by hand: `runtime.policies[policy_id] = FakePolicy(...)`.

    A policy that is not set moves a little.
    """

    def __init__(self, render_profile: str = "fake") -> None:
        self.render_profile = render_profile
        self.policies: dict[str, FakePolicy | PolicyError] = {}
        self.success_at: dict[str, int] = {}
        self.dropped: list[str] = []
        self._thread = threading.local()

    def environment(self, robot_id: str, scene_id: str) -> FakeEnvironment:
        """This thread's, as in the real runtime."""
        kept: FakeEnvironment = self._thread.__dict__.setdefault("environment", FakeEnvironment())
        return kept

    def player(self, policy: Policy, robot_id: str, scene_id: str) -> Player:
        found = self.policies.get(policy.id) or FakePolicy()
        if isinstance(found, PolicyError):
            raise found
        self.environment(robot_id, scene_id).success_at = self.success_at.get(policy.id, 10**6)
        return Player(found, Chunking())

    def drop(self, policy: Policy) -> None:
        self.dropped.append(policy.id)
