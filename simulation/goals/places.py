"""Where things are, and how they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from simulation.goals.fields import Degrees, Metres, Region, Thing, Toucher
from simulation.goals.judging import GoalProgress, Predicate, apart, judged, nearness, reach
from simulation.goals.view import View

TOOL = "tool"
ON_TOLERANCE = 0.008  # of a thing's height over what it stands on [m]
SAME_LEVEL = 0.03  # largest difference of heights between neighbours [m]
FAR = 0.3  # distance [m] at which there is no progress yet
MIDDLE = 0.25  # of the way between two things: what is nearer to one of them is not between them


@dataclass(frozen=True)
class On(Predicate):
    """The thing touches the support and is above it, its centre within `within_m` of the support's.

    Progress: the nearness of the centres, 0 at 0.3 m; at most 0.9 unless it touches.
    """

    thing: Thing
    support: Thing
    within_m: Metres = 0.05

    def judge(self, view: View) -> GoalProgress:
        place, below = view.position(self.thing), view.position(self.support)
        distance = apart(place, below) - self.within_m
        above = float(place[2]) > float(below[2]) + view.top(self.support) - ON_TOLERANCE
        on = distance <= 0 and above and view.touching(self.thing, self.support)
        return judged(on, 0.9 * nearness(distance, FAR))


@dataclass(frozen=True)
class In(Predicate):
    """The thing's centre is within the box around a bowl, cup, basket or other container, under its rim.

    Progress: the nearness of the centre to that box, 0 at 0.3 m; at most 0.9 outside.
    """

    thing: Thing
    container: Thing

    def judge(self, view: View) -> GoalProgress:
        box = view.extent(self.container)
        offset = view.position(self.thing) - view.position(self.container)
        local = view.rotation(self.container).T @ offset
        over = np.maximum(np.maximum(box.low - local, local - box.high), 0.0)
        return judged(not over.any(), 0.9 * nearness(float(np.linalg.norm(over)), FAR))


@dataclass(frozen=True)
class Inside(Predicate):
    """The thing's centre is inside the region. Progress: its nearness to the region, 0 at 0.3 m."""

    thing: Thing
    region: Region

    def judge(self, view: View) -> GoalProgress:
        outside = view.outside(view.position(self.thing), self.region)
        return judged(outside == 0.0, nearness(outside, FAR))


@dataclass(frozen=True)
class Touching(Predicate):
    """The thing touches the other, which may be the tool: any part of the gripper.

    Progress: the nearness of tool and thing, 0 at 0.15 m; of two things, 0 at 0.3 m.
    """

    thing: Thing
    other: Toucher = TOOL

    def judge(self, view: View) -> GoalProgress:
        if self.other == TOOL:
            return judged(view.hand_touching(self.thing), reach(view, self.thing))
        distance = float(np.linalg.norm(view.position(self.thing) - view.position(self.other)))
        return judged(view.touching(self.thing, self.other), nearness(distance, FAR))


@dataclass(frozen=True)
class Upright(Predicate):
    """The thing's z axis is within `within_deg` of the vertical.

    Progress: the share of the way there from upside down.
    """

    thing: Thing
    within_deg: Degrees = 15.0

    def judge(self, view: View) -> GoalProgress:
        lean = _lean(view, self.thing)
        return judged(lean <= self.within_deg, 1.0 - (lean - self.within_deg) / (180.0 - self.within_deg))


@dataclass(frozen=True)
class Tipped(Predicate):
    """The thing's z axis leans by at least `by_deg` from the vertical. Progress: the share of that angle."""

    thing: Thing
    by_deg: Degrees = 60.0

    def judge(self, view: View) -> GoalProgress:
        lean = _lean(view, self.thing)
        return judged(lean >= self.by_deg, lean / self.by_deg)


@dataclass(frozen=True)
class NextTo(Predicate):
    """Both at one height (within 3 cm), the gap between their footprints at most `within_m`.

    Progress: the nearness of the footprints, 0 at 0.3 m.
    """

    thing: Thing
    other: Thing
    within_m: Metres = 0.04

    def judge(self, view: View) -> GoalProgress:
        one, two = view.position(self.thing), view.position(self.other)
        gap = apart(one, two) - view.extent(self.thing).radius - view.extent(self.other).radius - self.within_m
        level = abs(_feet(view, self.thing) - _feet(view, self.other)) <= SAME_LEVEL
        return judged(gap <= 0 and level, nearness(gap, FAR))


@dataclass(frozen=True)
class LeftOf(Predicate):
    """The thing's centre is at least `by_m` to the left (+y) of the other's. Progress: the nearness, 0 at 0.3 m."""

    side: ClassVar[float] = 1.0
    thing: Thing
    other: Thing
    by_m: Metres = 0.02

    def judge(self, view: View) -> GoalProgress:
        lead = self.side * float(view.position(self.thing)[1] - view.position(self.other)[1])
        return judged(lead >= self.by_m, nearness(self.by_m - lead, FAR))


@dataclass(frozen=True)
class RightOf(LeftOf):
    """The thing's centre is at least `by_m` to the right (-y) of the other's. Progress: as `left_of`."""

    side: ClassVar[float] = -1.0


@dataclass(frozen=True)
class Between(Predicate):
    """The thing's centre is within `within_m` of the line from one to the other, in the middle half of it, and no
    higher than 3 cm above where it would stand beside the first.

    Progress: the nearness of the thing to the midpoint, 0 at 0.3 m.
    """

    thing: Thing
    one: Thing
    other: Thing
    within_m: Metres = 0.03

    def judge(self, view: View) -> GoalProgress:
        place, first, last = (view.position(name) for name in (self.thing, self.one, self.other))
        line, length = last[:2] - first[:2], max(1e-9, apart(first, last))
        along = float((place[:2] - first[:2]) @ line) / length**2
        aside = abs(float(line[0] * (place[1] - first[1]) - line[1] * (place[0] - first[0]))) / length
        level = abs(_feet(view, self.thing) - _feet(view, self.one)) <= SAME_LEVEL
        inside = level and MIDDLE <= along <= 1.0 - MIDDLE and aside <= self.within_m
        return judged(inside, nearness(apart(place, (first + last) / 2), FAR))


@dataclass(frozen=True)
class AtRest(Predicate):
    """The thing, or the joint that carries it, is slower than 0.05 m/s (rad/s). In `all` a condition.

    Progress: 0 while it moves.
    """

    condition: ClassVar[bool] = True
    thing: Thing

    def judge(self, view: View) -> GoalProgress:
        return judged(view.resting(self.thing), 0.0)


def _feet(view: View, name: str) -> float:
    """The height of what a thing stands on [m], if it stands upright."""
    return float(view.position(name)[2]) - view.rest_height(name)


def _lean(view: View, name: str) -> float:
    """The angle between a thing's z axis and the vertical [deg]."""
    return float(np.degrees(np.arccos(np.clip(view.rotation(name)[2, 2], -1.0, 1.0))))
