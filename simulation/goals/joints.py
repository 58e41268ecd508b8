"""Drawers, lids, doors and knobs: slides and hinges with a range."""

from __future__ import annotations

from dataclasses import dataclass

from simulation.goals.fields import End, Joint, Share
from simulation.goals.judging import GoalProgress, Predicate, judged
from simulation.goals.view import View


@dataclass(frozen=True)
class Open(Predicate):
    """The joint has come at least `share` of its range from the end at which it is `closed`.

    Progress: the part of that share.
    """

    joint: Joint
    share: Share = 0.7
    closed: End = "low"

    def judge(self, view: View) -> GoalProgress:
        return _far_enough(_opened(view, self.joint, self.closed), self.share)


@dataclass(frozen=True)
class Closed(Predicate):
    """The joint is within `share` of its range from the end at which it is `closed`. Progress: the part of the way."""

    joint: Joint
    share: Share = 0.1
    closed: End = "low"

    def judge(self, view: View) -> GoalProgress:
        return _far_enough(1.0 - _opened(view, self.joint, self.closed), 1.0 - self.share)


@dataclass(frozen=True)
class TurnedOn(Predicate):
    """A knob, lever or switch has come at least `share` of its range from the end at which it is `off`.

    Progress: the part of that share.
    """

    joint: Joint
    share: Share = 0.5
    off: End = "low"

    def judge(self, view: View) -> GoalProgress:
        return _far_enough(_opened(view, self.joint, self.off), self.share)


def _opened(view: View, joint: str, closed: End) -> float:
    share = view.joint_share(joint)
    return share if closed == "low" else 1.0 - share


def _far_enough(share: float, wanted: float) -> GoalProgress:
    return judged(share >= wanted, share / wanted)
