"""The scripted experts that teach, robot by robot: what they would do, state by state, on the way to a goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from simulation import expert, ur5e_expert
from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.franka_expert import FrankaExpert
from simulation.goals import Goal
from simulation.worlds import franka, ur5e, widowx


class Lesson(Protocol):
    """On the way to one goal, from the state in which it began."""

    def act(self) -> Floats:
        """The expert's action (n,) for the present state; called once in each control step."""
        ...

    def due(self) -> Goal | None:
        """The part of the goal at which `act` works now; None once all are reached."""
        ...


Begin = Callable[[Environment, Goal], Lesson]


@dataclass(frozen=True)
class Stateless:
    """A lesson of an expert whose action depends on the present state alone."""

    environment: Environment
    goal: Goal
    of_state: Callable[[Environment, Goal | None], Floats]
    part: Callable[[Environment, Goal], Goal | None]

    def act(self) -> Floats:
        return self.of_state(self.environment, self.goal)

    def due(self) -> Goal | None:
        return self.part(self.environment, self.goal)


@dataclass(frozen=True)
class Teacher:
    """`answers`: whether it can say what to do in a state that another one chose (DAgger)."""

    begin: Begin
    answers: bool = True


def _by_legs(environment: Environment, goal: Goal) -> Lesson:
    teacher = FrankaExpert(environment)
    teacher.follow(goal)
    return teacher


TEACHERS: Mapping[str, Teacher] = {
    widowx.id: Teacher(lambda environment, goal: Stateless(environment, goal, expert.act, expert.due)),
    ur5e.id: Teacher(lambda environment, goal: Stateless(environment, goal, ur5e_expert.act, ur5e_expert.due)),
    franka.id: Teacher(_by_legs, answers=False),
}
"""Robot -> its teacher."""
