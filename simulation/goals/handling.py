"""Goals of one thing in the gripper: lifted, put down, stacked. Their progress rises from reach to release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from simulation.goals.fields import Metres, Thing
from simulation.goals.judging import GoalProgress, Predicate, apart, reach
from simulation.goals.view import View

HEIGHT_TOLERANCE = 0.008  # of a resting thing's centre from where it should be [m]; a tilted cube exceeds it


@dataclass(frozen=True)
class Lifted(Predicate):
    """Both pads hold the thing at least `height_m` above its height on the table (z = 0).

    Progress: up to 0.3 for reaching it, 0.4 for holding it, the rest for the share of the height.
    """

    thing: Thing
    height_m: Metres = 0.05

    def judge(self, view: View) -> GoalProgress:
        height = float(view.position(self.thing)[2]) - view.rest_height(self.thing)
        held = view.pads_touching(self.thing) == 2
        progress = 0.3 * reach(view, self.thing)
        if held:
            progress = 0.4 + 0.6 * min(1.0, max(0.0, height / self.height_m))
        return GoalProgress(held and height >= self.height_m, progress)


@dataclass(frozen=True)
class Placed(Predicate):
    """The thing rests on the support, within `within_m` of its centre, and the gripper has let go.

    Progress: 0.2 for reaching the thing, 0.2 for holding it, 0.4 on the way to the support, 0.2 for letting go.
    """

    thing: Thing
    support: Thing
    within_m: Metres = 0.05

    def judge(self, view: View) -> GoalProgress:
        return _set_down(view, self.thing, self.support, self.within_m)


@dataclass(frozen=True)
class Stacked(Predicate):
    """The thing rests on the other, within `within_m` of its centre, and the gripper has let go.

    Progress: as `placed`.
    """

    thing: Thing
    base: Thing
    within_m: Metres = 0.02

    def judge(self, view: View) -> GoalProgress:
        return _set_down(view, self.thing, self.base, self.within_m)


@dataclass(frozen=True)
class Released(Predicate):
    """No pad touches the thing. Progress: half of it once one pad has let go. In `all` a condition."""

    condition: ClassVar[bool] = True
    thing: Thing

    def judge(self, view: View) -> GoalProgress:
        pads = view.pads_touching(self.thing)
        return GoalProgress(pads == 0, {0: 1.0, 1: 0.5}.get(pads, 0.0))


def _set_down(view: View, name: str, target: str, distance_m: float) -> GoalProgress:
    place = view.position(name)
    height_m = float(view.position(target)[2]) + view.top(target) + view.rest_height(name)
    distance = apart(place, view.position(target))
    over = distance <= distance_m and place[2] > height_m - HEIGHT_TOLERANCE
    pads = view.pads_touching(name)
    down = over and abs(float(place[2]) - height_m) <= HEIGHT_TOLERANCE and view.touching(name, target)
    if down and pads == 0 and view.resting(name):
        return GoalProgress(True, 1.0)
    if over:
        return GoalProgress(False, 0.8)
    if pads == 2:
        return GoalProgress(False, 0.4 + 0.4 * max(0.0, 1.0 - distance / 0.3))
    return GoalProgress(False, 0.2 * reach(view, name))
