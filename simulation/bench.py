"""Benchmarks of the simulation: what the control loop adds to bare physics, and what a picture costs."""

from __future__ import annotations

import time
from dataclasses import dataclass

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.expert import act


@dataclass(frozen=True)
class LoopCost:
    """CPU milliseconds of whole episodes; `ratio` is control loop over bare physics."""

    bare_ms: float
    loop_ms: float
    steps: int

    @property
    def ratio(self) -> float:
        return self.loop_ms / self.bare_ms


def control_loop_cost(
    episodes: int = 10, seed: int = 0, instruction: str = "stack the red cube on the yellow cube"
) -> LoopCost:
    """The same expert episodes by Environment.step (IK, ramp, judging), and by bare mj_step with the same ctrl.

    Both are the best of three in CPU time of this process, and go through identical states.
    """
    environment = Environment()
    scripts = [_script(environment, number, instruction) for number in range(seed, seed + episodes)]
    loop = min(sum(_played(environment, *script) for script in scripts) for _ in range(3))
    bare = min(sum(_stepped(environment, *script) for script in scripts) for _ in range(3))
    return LoopCost(bare * 1e3, loop * 1e3, sum(len(actions) for _, actions in scripts))


def render_ms(frames: int = 200) -> float:
    """Wall milliseconds of one policy picture in the frozen profile."""
    environment = Environment()
    environment.reset(0)
    environment.picture()
    began = time.perf_counter()
    for _ in range(frames):
        environment.picture()
    return (time.perf_counter() - began) / frames * 1e3


def _script(environment: Environment, seed: int, instruction: str) -> tuple[int, list[Floats]]:
    environment.reset(seed)
    environment.set_instruction(instruction)
    actions = []
    for _ in range(30):
        actions.append(act(environment, environment.goal))
        environment.step(actions[-1])
    return seed, actions


def _played(environment: Environment, seed: int, actions: list[Floats]) -> float:
    environment.reset(seed)
    began = time.process_time()
    for action in actions:
        environment.step(action)
        environment.state()
    return time.process_time() - began


def _stepped(environment: Environment, seed: int, actions: list[Floats]) -> float:
    environment.reset(seed)
    controls = []
    for action in actions:
        controls.append(environment.controller.command(action))
    model, data = environment.model, environment.data
    pieces = np.concatenate(controls)
    began = time.process_time()
    for piece in pieces:
        data.ctrl[:] = piece
        mujoco.mj_step(model, data, environment.world.substeps)
    return time.process_time() - began
