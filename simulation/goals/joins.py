"""Goals made of goals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from simulation.goals.judging import Goal, GoalProgress, is_condition, judged
from simulation.goals.view import View


@dataclass(frozen=True)
class All:
    """Every goal at the same instant. Progress: the mean over the goals that are no mere condition (`released`,
    `at_rest`, `not`), or over all of them if there is no other."""

    goals: tuple[Goal, ...]

    def begin(self, view: View) -> None:
        for goal in self.goals:
            goal.begin(view)

    def judge(self, view: View) -> GoalProgress:
        found = [goal.judge(view) for goal in self.goals]
        steps = [one for goal, one in zip(self.goals, found, strict=True) if not is_condition(goal)] or found
        return judged(all(one.success for one in found), sum(one.progress for one in steps) / len(steps))


@dataclass(frozen=True)
class Any:
    """At least one of the goals. Progress: the best of theirs."""

    goals: tuple[Goal, ...]

    def begin(self, view: View) -> None:
        for goal in self.goals:
            goal.begin(view)

    def judge(self, view: View) -> GoalProgress:
        found = [goal.judge(view) for goal in self.goals]
        return judged(any(one.success for one in found), max(one.progress for one in found))


@dataclass(frozen=True)
class Not:
    """The goal is not reached now. Progress: 0 while it is. In `all` a condition."""

    condition: ClassVar[bool] = True
    goal: Goal

    def begin(self, view: View) -> None:
        self.goal.begin(view)

    def judge(self, view: View) -> GoalProgress:
        return judged(not self.goal.judge(view).success, 0.0)


@dataclass
class Stages:
    """The goals one after the other; each but the last counts as reached from then on, and the next is judged from the
    same instant. The last is judged as it is now. All are compared with the beginning of the turn.

    Progress: the mean over all of them, 1 for each that was reached, that of the next one, 0 for the later ones.
    """

    goals: tuple[Goal, ...]
    _reached: int = field(init=False, default=0, repr=False, compare=False)

    def begin(self, view: View) -> None:
        self._reached = 0
        for goal in self.goals:
            goal.begin(view)

    def judge(self, view: View) -> GoalProgress:
        found = self._ahead(view)
        success = found.success and self._reached == len(self.goals) - 1
        return judged(success, (self._reached + found.progress) / len(self.goals))

    def reached(self, view: View) -> int:
        """How many are reached for good: of all but the last."""
        self._ahead(view)
        return self._reached

    def ahead(self, view: View) -> Goal:
        """The goal that is to be reached next; the last one also when it is reached."""
        return self.goals[self.reached(view)]

    def stages(self, view: View) -> tuple[float, ...]:
        """The progress of each."""
        found = self._ahead(view)
        return (*[1.0] * self._reached, found.progress, *[0.0] * (len(self.goals) - self._reached - 1))

    def _ahead(self, view: View) -> GoalProgress:
        """How the goal that is to be reached next stands."""
        found = self.goals[self._reached].judge(view)
        while found.success and self._reached < len(self.goals) - 1:
            self._reached += 1
            found = self.goals[self._reached].judge(view)
        return found
