"""What the scripted experts of all robots have in common: each works towards the goal of its instruction."""

from __future__ import annotations

from abc import ABC, abstractmethod

from simulation.contracts import Floats, Observation
from simulation.environment import Environment
from simulation.goals import Goal, goal_for


class GoalActor(ABC):
    """An actor (contracts.Actor) of one environment. The goal begins in the state in which it is reset; free text has
    none.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._goal: Goal | None = None

    def reset(self, instruction: str, seed: int) -> None:
        self._goal = goal_for(instruction, self._environment.world.scene_id)
        if self._goal:
            self._goal.begin(self._environment.view)

    @abstractmethod
    def infer(self, observation: Observation) -> Floats:
        """The next action, float64 (1, size of the robot's action)."""

    def close(self) -> None:  # noqa: B027 - experts hold nothing that needs closing
        """Nothing is held."""
