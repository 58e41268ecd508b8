"""What every goal answers, and the shares of which its progress is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from simulation.contracts import Floats
from simulation.goals.view import View

REACH_SCALE = 0.15  # distance [m] from which an approach counts as progress
ALMOST = 0.99  # the most progress without success


@dataclass(frozen=True)
class GoalProgress:
    """`success` is that of this instant, which the runner requires to be held. `progress` is 0..1."""

    success: bool
    progress: float


class Goal(Protocol):
    """`begin` is called in the state in which a turn starts, before the first `judge`; goals that compare with that
    state remember it, and stages forget what they had reached."""

    def begin(self, view: View) -> None: ...

    def judge(self, view: View) -> GoalProgress: ...


class Predicate:
    """A goal of one instant, which remembers nothing. `condition`: it says how another goal is held, and is no part of
    the way there."""

    condition: ClassVar[bool] = False

    def begin(self, view: View) -> None:
        return

    def judge(self, view: View) -> GoalProgress:
        raise NotImplementedError


def is_condition(goal: Goal) -> bool:
    return getattr(goal, "condition", False)


def judged(success: bool, progress: float) -> GoalProgress:
    """Progress is 1 with success, and less without."""
    return GoalProgress(bool(success), 1.0 if success else min(ALMOST, max(0.0, float(progress))))


def nearness(distance: float, scale: float) -> float:
    """1 at a distance of 0 or less, falling to 0 at `scale`."""
    return min(1.0, max(0.0, 1.0 - distance / scale))


def reach(view: View, name: str) -> float:
    """1 when the tool is at the thing, falling to 0 at REACH_SCALE."""
    return max(0.0, 1.0 - float(np.linalg.norm(view.tool() - view.position(name))) / REACH_SCALE)


def apart(one: Floats, other: Floats) -> float:
    """Horizontal distance of two points [m]."""
    return float(np.hypot(*(one[:2] - other[:2])))
