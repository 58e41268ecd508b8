"""A policy that drives parts of demonstrations, so that they show, labelled by the expert, the states into which the
policy itself gets (DAgger, Ross et al. 2011).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulation.chunking import ChunkPlayer
from simulation.contracts import POLICY_CAMERA, Actor, CameraSpec, Chunking, Floats
from simulation.environment import Environment

POLICY_SPAN, EXPERT_SPAN = (4, 25), (3, 13)  # control steps for which one of them drives, drawn anew each time


@dataclass(frozen=True)
class Driver:
    """`share`: of the demonstrations in which `actor` drives parts. It sees `camera` alone."""

    actor: Actor
    chunking: Chunking
    share: float
    camera: CameraSpec = POLICY_CAMERA


OpenDriver = Callable[[], Driver]
"""Called once in every process that makes demonstrations."""


class Driving:
    """Who drives in one demonstration: the policy and the expert in turn, the policy first. The policy looks at every
    step at which it would look if it drove alone, so that what it remembers is what it would remember.
    """

    def __init__(self, driver: Driver, environment: Environment, rng: np.random.Generator) -> None:
        self._driver, self._environment, self._rng = driver, environment, rng
        self._by_policy, self._left = False, 0
        self._text = ""
        self._step = 0

    def begin(self, text: str, seed: int) -> None:
        """Follow a new instruction."""
        self._text, self._step = text, 0
        self._driver.actor.reset(text, seed)
        world = self._environment.world
        self._player = ChunkPlayer(self._driver.chunking, self._infer, world.action_chunk, world.robot.LONGEST_CHUNK)

    def __call__(self) -> Floats | None:
        """The policy's action for this step, or None while the expert drives."""
        if self._left == 0:
            self._by_policy = not self._by_policy
            self._left = int(self._rng.integers(*(POLICY_SPAN if self._by_policy else EXPERT_SPAN)))
        self._left -= 1
        chosen = self._player.next()
        self._step += 1
        return chosen if self._by_policy else None

    def _infer(self) -> Floats:
        return self._driver.actor.infer(self._environment.observe(self._text, self._step, (self._driver.camera,)))
