"""What has changed since the turn began. These remember its beginning."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simulation.contracts import Floats
from simulation.goals.fields import Degrees, Direction, Metres, Thing, Way
from simulation.goals.judging import GoalProgress, apart, judged, nearness
from simulation.goals.view import View

AXES = {"left": (0.0, 1.0), "right": (0.0, -1.0), "forward": (1.0, 0.0), "back": (-1.0, 0.0)}
FAR = 0.3  # distance [m] at which there is no progress yet


@dataclass
class Moved:
    """The thing is at least `by_m` in the direction from where it was, and went no further aside than that way.

    Progress: the share of `by_m`.
    """

    thing: Thing
    direction: Direction
    by_m: Metres = 0.05
    _place: Floats = field(init=False, repr=False, compare=False)

    def begin(self, view: View) -> None:
        self._place = view.position(self.thing).copy()

    def judge(self, view: View) -> GoalProgress:
        way = self.way_from(view)
        length = float(np.hypot(*way))
        ahead = length if self.direction == "any" else float(way @ AXES[self.direction])
        aside = float(np.sqrt(max(0.0, length**2 - ahead**2)))
        return judged(ahead >= self.by_m and aside <= ahead, ahead / self.by_m)

    def way_from(self, view: View) -> Floats:
        """How far it has come since (2,) [m]."""
        way: Floats = view.position(self.thing)[:2] - self._place[:2]
        return way


@dataclass
class Turned:
    """The thing is turned about z by at least `by_deg` (up to 180) from how it was. Progress: the share of that."""

    thing: Thing
    by_deg: Degrees = 30.0
    way: Way = "either"
    _yaw: float = field(init=False, repr=False, compare=False)

    def begin(self, view: View) -> None:
        self._yaw = view.yaw(self.thing)

    def judge(self, view: View) -> GoalProgress:
        turn = float(np.degrees(self.turn_from(view)))
        angle = {"left": turn, "right": -turn, "either": abs(turn)}[self.way]
        return judged(angle >= self.by_deg, angle / self.by_deg)

    def turn_from(self, view: View) -> float:
        """How far it has turned since [rad, -pi..pi], to the left."""
        return float((view.yaw(self.thing) - self._yaw + np.pi) % (2 * np.pi) - np.pi)


@dataclass
class Swapped:
    """Each thing is within `within_m` of where the other was, at that height within the same.

    Progress: the mean nearness of both, 0 at 0.3 m.
    """

    one: Thing
    other: Thing
    within_m: Metres = 0.04
    _places: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)

    def begin(self, view: View) -> None:
        self._places = view.position(self.one).copy(), view.position(self.other).copy()

    def judge(self, view: View) -> GoalProgress:
        now = view.position(self.other), view.position(self.one)
        lengths = [apart(here, there) for here, there in zip(now, self._places, strict=True)]
        rises = [abs(float(here[2] - there[2])) for here, there in zip(now, self._places, strict=True)]
        return judged(
            max(*lengths, *rises) <= self.within_m,
            float(np.mean([nearness(length - self.within_m, FAR) for length in lengths])),
        )

    def places(self) -> tuple[Floats, Floats]:
        """Where the one was and where the other was (3,) [m, base frame]."""
        return self._places
