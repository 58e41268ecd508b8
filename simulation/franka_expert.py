"""The scripted expert of the Franka in its kitchen: it opens doors, turns knobs, pushes the light switch and moves the
kettle.

It reads the simulator's state, and no picture. It is stateless: the action depends on the present state, so that it
recovers from slips and can label any state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulation.contracts import Floats, Observation
from simulation.environment import Environment
from simulation.franka_hand import CLOSED, FUNNEL_M, KNOBS, OPEN, TURN_RAD, Hand, about_z, axes, share_of
from simulation.goal_actor import GoalActor
from simulation.goals import Goal
from simulation.goals.joins import All
from simulation.goals.joints import Open, TurnedOn
from simulation.goals.judging import is_condition
from simulation.goals.places import Inside
from simulation.worlds import franka, kitchen

NEAR_M, NEAR_RAD = 0.012, 0.08
BACK_M = 0.13  # before a thing, while the hand is not in line with it
METRES_PER_RAD = 0.1  # a turn that is off counts as so far aside
DOORS = {"microwave": (0.2, 0.0), "right_hinge_cabinet": (0.0, 0.65)}
"""Door -> yaw of the hand at its handle [rad], and how much of the door's turn the hand follows."""
AHEAD_RAD = 0.15  # how much farther than a door has come the hand pulls it
KNOB_BEFORE = 0.008  # of the middle of a knob's bar [m]
PUSHED = {"slide_cabinet": (-1.0, -0.09, -0.3), "light_switch": (1.0, 0.0, 0.0)}
"""What is pushed aside -> whereto along y, how far above the middle of its handle [m], and the hand's yaw at the end of
the way [rad]."""
BESIDE_M, TOUCH_M, AHEAD_M = (0.055, 0.085), 0.03, 0.07  # of a hand that comes in beside a handle; while it pushes [m]
SPARE = 0.03  # of a joint's range, past what is asked, while the hand is there
HELD_M = 0.035  # of the tool from what only one finger touches for a moment
LOWERED_M = 0.025  # in one control step
LIFT_M, PRESS_M, DOWN_M = 0.035, 0.02, 0.012  # of the kettle on its way, as it is let down, and once it stands [m]
NEARER_M, THERE_M = 0.03, 0.025  # before the middle of its place, and how far from there it may be let down [m]

Part = Open | TurnedOn | Inside


class FrankaExpert(GoalActor):
    """For free text it holds still."""

    def infer(self, observation: Observation) -> Floats:
        return act(self._environment, self._goal)[None, :]


def act(environment: Environment, goal: Goal | None) -> Floats:
    """The expert's action (7,) for the present state, of a goal that has begun; still for what it cannot do."""
    expert, parts = _Expert(environment), _parts(goal)
    if not parts:
        return environment.controller.still()
    part = expert.due(parts)
    return expert.towards(part) if part else expert.hand.travel(franka.START, axes(), OPEN)


def due(environment: Environment, goal: Goal) -> Goal | None:
    """The part of a goal that has begun at which `act` works now; None once all are reached."""
    return _Expert(environment).due(_parts(goal))


def _parts(goal: Goal | None) -> list[Part]:
    """What of a goal is work that the expert can do, in its order."""
    if isinstance(goal, All):
        return [part for each in goal.goals if not is_condition(each) for part in _parts(each)]
    if isinstance(goal, Inside) or (isinstance(goal, Open | TurnedOn) and goal.joint in (*DOORS, *KNOBS, *PUSHED)):
        return [goal]
    return []


@dataclass(frozen=True)
class _Grasp:
    """Where the tool takes hold of a thing (3,) [m], and the hand's axes there (3, 3)."""

    name: str
    spot: Floats
    facing: Floats


class _Expert:
    """What to do in the present state."""

    def __init__(self, environment: Environment) -> None:
        self.hand = Hand(environment)
        self._view, self._data, self._model = environment.view, environment.data, environment.model

    def due(self, parts: list[Part]) -> Part | None:
        """The first that is not done."""
        return next((part for part in parts if not self._is_done(part)), None)

    def towards(self, part: Part) -> Floats:
        """The next action (7,) for a part of the goal."""
        if isinstance(part, Open | TurnedOn) and part.joint in PUSHED:
            return self._push(part)
        grasp = self._grasp(part)
        if isinstance(part, Inside) and self._stands(part):
            return self.hand.go(grasp.spot, grasp.facing, OPEN)
        return self._move(part, grasp) if self._holds(grasp) else self._fetch(grasp)

    def _is_done(self, part: Part) -> bool:
        """Whether it is reached; while the hand is still there, with something to spare."""
        if isinstance(part, Inside):
            return part.judge(self._view).success and self._view.pads_touching(part.thing) == 0
        return self._gone(part) >= part.share + (SPARE if self._view.hand_touching(part.joint) else 0.0)

    def _gone(self, part: Open | TurnedOn) -> float:
        """How far the joint has come, as a share of its range."""
        share = self._view.joint_share(part.joint)
        return 1.0 - share if _sign(part) < 0.0 else share

    def _turned(self, part: Open | TurnedOn) -> float:
        """How far its joint has come from where it starts [m, rad]."""
        low, high = self._model.jnt_range[self._model.joint(part.joint).id]
        return self._gone(part) * float(high - low)

    def _grasp(self, part: Part) -> _Grasp:
        if isinstance(part, Inside):
            yaw = self._view.yaw(part.thing) + np.pi / 2
            return _Grasp(part.thing, self.hand.handle(part.thing), axes(yaw, np.pi / 2))
        handle, turned = self.hand.handle(part.joint), self._turned(part)
        if part.joint in DOORS:
            yaw, share = DOORS[part.joint]
            return _Grasp(part.joint, handle, axes(yaw + share * _sign(part) * turned))
        return _Grasp(part.joint, handle - np.array([KNOB_BEFORE, 0.0, 0.0]), axes(0.0, turned))

    def _holds(self, grasp: _Grasp) -> bool:
        """Whether the fingers are around it, and closed."""
        pads, near = self._view.pads_touching(grasp.name), np.linalg.norm(self.hand.tool - grasp.spot) < HELD_M
        return self.hand.is_firm() and (pads == 2 or (pads == 1 and bool(near) and not self.hand.is_open()))

    def _fetch(self, grasp: _Grasp) -> Floats:
        """Come to a thing from before it, and close the fingers there."""
        way, ahead = self.hand.tool - grasp.spot, grasp.facing[:, 2]
        aside = float(np.linalg.norm(way - (way @ ahead) * ahead))
        off = max(aside - NEAR_M, self._askew(grasp.facing, NEAR_RAD))
        if off < 0.5 * NEAR_M and abs(float(way @ ahead)) < NEAR_M:
            return self.hand.go(grasp.spot, grasp.facing, CLOSED)
        return self.hand.travel(grasp.spot - _before(off) * ahead, grasp.facing, OPEN, grasp.name)

    def _askew(self, facing: Floats, allowed_rad: float) -> float:
        """How far the hand is from given axes, as if it were so far aside [m]."""
        return max(0.0, (self.hand.off(facing) - allowed_rad) * METRES_PER_RAD)

    def _move(self, part: Part, grasp: _Grasp) -> Floats:
        """What is held goes on a little."""
        if isinstance(part, Inside):
            return self._carry(part, grasp)
        if part.joint in KNOBS:
            return self.hand.act(np.zeros(3), np.array([TURN_RAD, 0.0, 0.0]), CLOSED)
        angle = _sign(part) * AHEAD_RAD
        anchor = self._data.xanchor[self._model.joint(part.joint).id]
        spot = anchor + about_z(angle) @ (grasp.spot - anchor)
        return self.hand.go(spot, about_z(DOORS[part.joint][1] * angle) @ grasp.facing, CLOSED)

    def _carry(self, part: Inside, grasp: _Grasp) -> Floats:
        way, lifted = self._way(part), self._lifted(part.thing)
        high = LIFT_M - (LIFT_M + PRESS_M) * share_of(float(np.hypot(*way)), 0.5 * THERE_M, 0.5 * THERE_M)
        share = share_of(high - lifted, 0.01, 0.01)
        rise = max(-LOWERED_M, high - lifted)
        return self.hand.go(self.hand.tool + np.array([*(share * way), rise]), grasp.facing, CLOSED)

    def _stands(self, part: Inside) -> bool:
        """Whether the thing stands where it is to stand."""
        rests = self._view.supported(part.thing) and self._view.resting(part.thing)
        return float(np.hypot(*self._way(part))) < THERE_M and (rests or self._lifted(part.thing) < DOWN_M)

    def _way(self, part: Inside) -> Floats:
        """From where a thing is to where it is to stand (2,) [m]."""
        place: Floats = self._view.region(part.region)[0] - self._view.position(part.thing)
        way: Floats = place[:2] - np.array([NEARER_M, 0.0])
        return way

    def _lifted(self, thing: str) -> float:
        """How far a thing is over where it stands [m]."""
        return float(self._view.position(thing)[2]) - kitchen.KETTLE[2]

    def _push(self, part: Open | TurnedOn) -> Floats:
        """Come in beside the handle with closed fingers, and push it along y."""
        sign, above, yaw = PUSHED[part.joint]
        x, y, z = self.hand.handle(part.joint) + np.array([0.0, 0.0, above])
        facing = axes(yaw * min(1.0, self._gone(part) / part.share))
        to_go, high = float(x - self.hand.tool[0]), abs(float(self.hand.tool[2] - z))
        lead = sign * float(y - self.hand.tool[1])  # of the tool before the handle
        if -TOUCH_M < lead < BESIDE_M[1] and to_go < FUNNEL_M and high < FUNNEL_M:
            onwards = float(self.hand.tool[1]) + sign * AHEAD_M * share_of(to_go, NEAR_M, NEAR_M)
            return self.hand.go(np.array([x, onwards, z]), facing, CLOSED)
        beside = y - sign * float(np.clip(lead, *BESIDE_M))
        off = max(abs(float(self.hand.tool[1] - beside)), high - NEAR_M, self._askew(facing, 2 * NEAR_RAD))
        return self.hand.travel(np.array([x - _before(off), beside, z]), facing, CLOSED, part.joint)


def _before(off: float) -> float:
    """How far before a thing to stay while the hand is off by so much [m]."""
    return BACK_M * float(np.clip(off / FUNNEL_M, 0.0, 1.0))


def _sign(part: Open | TurnedOn) -> float:
    """Which way its joint goes."""
    return -1.0 if (part.closed if isinstance(part, Open) else part.off) == "high" else 1.0
