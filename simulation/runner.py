"""The loop that plays a rollout, the same for every policy and independent of its listeners."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from simulation import catalogue
from simulation.chunking import ChunkPlayer
from simulation.contracts import (
    POLICY_CAMERA,
    Actor,
    CameraSpec,
    Chunking,
    EpisodeResult,
    Floats,
    Limits,
    Listener,
    PolicyFailure,
    PolicyTooSlow,
    StepRecord,
    TerminationReason,
)
from simulation.environment import Environment
from simulation.goals import GoalProgress


@dataclass
class Score:
    """The sum of goal progress. A step's reward is the gain in best progress, plus 1 once success is complete, which
    it is after `hold_steps` steps with success.
    """

    hold_steps: int
    progress: float = 0.0
    total_reward: float = 0.0
    held: int = 0

    @property
    def complete(self) -> bool:
        return self.held >= self.hold_steps

    def add(self, judgement: GoalProgress) -> float:
        """Count one step and return its reward."""
        self.held = self.held + 1 if judgement.success else 0
        reward = max(0.0, judgement.progress - self.progress) + float(self.complete)
        self.progress = max(self.progress, judgement.progress)
        self.total_reward += reward
        return reward


@dataclass
class _Clock:
    """Wall seconds spent in each part."""

    render_s: float = 0.0
    infer_s: float = 0.0
    physics_s: float = 0.0


def run_episode(
    environment: Environment,
    policy: Actor,
    instruction: str,
    seed: int,
    listeners: Sequence[Listener] = (),
    limits: Limits | None = None,
    chunking: Chunking = Chunking(),  # noqa: B008 - frozen
    cameras: tuple[CameraSpec, ...] = (POLICY_CAMERA,),
) -> EpisodeResult:
    """Play from the environment's present state until success is held, a limit is met or physics breaks down.

    `limits`: those of the task that the instruction means, unless others are given.
    Raises PolicyFailure when the policy raises, is too slow or returns an unusable chunk. Listeners then get no end.
    """
    limits = limits or catalogue.limits_for(instruction, environment.world.scene_id, environment.world.control_hz)
    rollout = _Rollout(environment, policy, instruction, limits, cameras)
    rollout.start(seed)
    for listener in listeners:
        listener.on_start(environment.state())
    world = environment.world
    player = ChunkPlayer(chunking, rollout.infer, world.action_chunk, world.robot.LONGEST_CHUNK)
    began = time.perf_counter()
    reason: TerminationReason | None = "step_limit" if limits.max_steps < 1 else None
    while reason is None:
        record, reason = rollout.step(player)
        if record is not None:
            for listener in listeners:
                listener.on_step(record)
        if reason is None and time.perf_counter() - began > limits.wall_s:
            reason = "time_limit"
    result = rollout.result(reason, time.perf_counter() - began)
    for listener in listeners:
        listener.on_end(result)
    return result


@dataclass
class _Rollout:
    """`now`: the clock of the present step."""

    environment: Environment
    policy: Actor
    instruction: str
    limits: Limits
    cameras: tuple[CameraSpec, ...]
    score: Score = field(init=False)
    total: _Clock = field(default_factory=_Clock)
    now: _Clock = field(default_factory=_Clock)
    steps: int = 0

    def start(self, seed: int) -> None:
        self.environment.set_instruction(self.instruction)
        self.score = Score(self.environment.hold_steps)
        try:
            self.policy.reset(self.instruction, seed)
        except PolicyTooSlow:
            raise
        except Exception as error:  # whatever a policy raises fails its rollout only
            raise PolicyFailure(f"reset raised {type(error).__name__}") from error

    def infer(self) -> Floats:
        """Render and infer, and time both."""
        began = time.perf_counter()
        observation = self.environment.observe(self.instruction, self.steps, self.cameras)
        rendered = time.perf_counter()
        try:
            actions = self.policy.infer(observation)
        except PolicyTooSlow:
            raise
        except Exception as error:  # whatever a policy raises fails its rollout only
            raise PolicyFailure(f"infer raised {type(error).__name__}") from error
        done = time.perf_counter()
        self.now.render_s, self.now.infer_s = rendered - began, done - rendered
        if self.now.infer_s > self.limits.infer_s:
            raise PolicyTooSlow(f"infer took {self.now.infer_s:.1f} s, at most {self.limits.infer_s:g} s are allowed")
        return actions

    def step(self, player: ChunkPlayer) -> tuple[StepRecord | None, TerminationReason | None]:
        """One control step. A step in which physics diverged leaves no record."""
        self.now = _Clock()
        action = player.next()
        outcome = self.environment.step(action)
        self.total.render_s += self.now.render_s
        self.total.infer_s += self.now.infer_s
        self.total.physics_s += outcome.physics_s
        if outcome.diverged:
            return None, "diverged"
        reward = self.score.add(outcome.judgement)
        record = StepRecord(
            step=self.steps,
            action=action.copy(),
            state=self.environment.state(),
            between=outcome.between,
            reward=reward,
            progress=outcome.judgement.progress,
            success=outcome.judgement.success,
            render_s=self.now.render_s,
            infer_s=self.now.infer_s,
            physics_s=outcome.physics_s,
        )
        self.steps += 1
        if self.score.complete and self.limits.until_success:
            return record, "success"
        return record, "step_limit" if self.steps >= self.limits.max_steps else None

    def result(self, reason: TerminationReason, seconds: float) -> EpisodeResult:
        meaning = self.environment.meaning
        has_goal = self.environment.goal is not None
        return EpisodeResult(
            steps=self.steps,
            success=self.score.complete if has_goal else None,
            progress=self.score.progress if has_goal else None,
            total_reward=self.score.total_reward,
            termination_reason=reason,
            error="physics became unstable" if reason == "diverged" else None,
            duration_ms=seconds * 1e3,
            render_ms=self.total.render_s * 1e3,
            infer_ms=self.total.infer_s * 1e3,
            physics_ms=self.total.physics_s * 1e3,
            task_id=meaning[0] if meaning else None,
            slots=meaning[1] if meaning else None,
        )
