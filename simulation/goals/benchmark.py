"""LIBERO's own rules, term by term as its code has them (MIT, `envs/object_states/base_object_states.py` and
`envs/objects/site_object.py`), so that success here means what it means in its tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simulation.goals.fields import Joint, Region, Thing
from simulation.goals.judging import GoalProgress, Predicate, apart, judged, nearness
from simulation.goals.view import View

FAR = 0.3  # distance [m] at which there is no progress yet
CENTRED = 0.03  # largest horizontal distance of a thing from what it rests on [m]
SPARE_BELOW = 0.01  # that a region reaches further down than it is drawn [m]
SUNK, HEADROOM = 0.005, 0.10  # a thing's centre over a region's upper side: from that below it to that above it [m]
FAR_JOINT = 1.0  # [m, rad] at which there is no progress yet


@dataclass(frozen=True)
class RestsOver(Predicate):
    """`On` of two things: they touch, the thing's origin is no lower than the support's, and both are less than 3 cm
    apart, seen from above. Progress: the nearness of the origins, 0 at 0.3 m; at most 0.9 unless they touch.
    """

    thing: Thing
    support: Thing

    def judge(self, view: View) -> GoalProgress:
        place, below = view.position(self.thing), view.position(self.support)
        distance = apart(place, below)
        over = bool(place[2] >= below[2]) and distance < CENTRED
        return judged(over and view.touching(self.thing, self.support), 0.9 * nearness(distance - CENTRED, FAR))


@dataclass(frozen=True)
class OverRegion(Predicate):
    """`On` of a thing and a region: the thing's origin is within the region's sides and from 5 mm below to 10 cm above
    its upper side, in the region's frame, and the thing touches what has the region (`of`, if it is a thing).
    Progress: the nearness of the origin to that box, 0 at 0.3 m; at most 0.9 outside.
    """

    thing: Thing
    region: Region
    of: Thing = ""

    def judge(self, view: View) -> GoalProgress:
        at, rotation, size = view.region(self.region)
        local = rotation @ (view.position(self.thing) - at)  # LIBERO multiplies by the matrix, not by its inverse
        over = np.array(
            [
                abs(local[0]) - size[0],
                abs(local[1]) - size[1],
                max(size[2] - SUNK - local[2], local[2] - size[2] - HEADROOM),
            ]
        )
        inside = bool((over < 0).all()) and (not self.of or view.touching(self.thing, self.of))
        return judged(inside, 0.9 * nearness(float(np.linalg.norm(np.maximum(over, 0.0))), FAR))


@dataclass(frozen=True)
class WithinRegion(Predicate):
    """`In` of a thing and a region: the thing's origin is in the box along the world's axes whose half sides are the
    region's, turned as it is, and which reaches 1 cm further down. Progress: its nearness to that box, 0 at 0.3 m; at
    most 0.9 outside.
    """

    thing: Thing
    region: Region

    def judge(self, view: View) -> GoalProgress:
        at, rotation, size = view.region(self.region)
        half = np.abs(rotation @ size)
        offset = view.position(self.thing) - at
        over = np.maximum(offset - half, -offset - half)
        over[2] = max(offset[2] - half[2], -offset[2] - half[2] - SPARE_BELOW)
        return judged(bool((over < 0).all()), 0.9 * nearness(float(np.linalg.norm(np.maximum(over, 0.0))), FAR))


@dataclass(frozen=True)
class Past(Predicate):
    """`Open`, `Close`, `TurnOn` and `TurnOff`: the joint's position [m or rad] is on that side of a value. Progress:
    the nearness of the joint to it, 0 at 1 m or rad.
    """

    joint: Joint
    value: float
    side: Literal["above", "below"] = "above"

    def judge(self, view: View) -> GoalProgress:
        lead = view.joint_position(self.joint) - self.value
        lead = lead if self.side == "above" else -lead
        return judged(lead >= 0.0 if self.side == "above" else lead > 0.0, 0.9 * nearness(-lead, FAR_JOINT))
