"""The scripted expert of the Franka in its kitchen: it opens doors, turns knobs, pushes the light switch and moves the
kettle.

It reads the simulator's state, and no picture. It follows a list of poses for one part of the goal after the other, and
begins a list anew for what was not reached. The hand points ahead throughout; `yaw` turns it about the vertical and
`roll` about its own axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import mujoco
import numpy as np

from simulation.contracts import Floats, Observation
from simulation.control.tool_pose import ToolPose, shortened
from simulation.environment import Environment
from simulation.goal_actor import GoalActor
from simulation.goals import Goal
from simulation.goals.joins import All
from simulation.goals.joints import Open, TurnedOn
from simulation.goals.judging import is_condition
from simulation.goals.places import Inside
from simulation.panda_ways import Leg, Way
from simulation.worlds import franka

OPEN, CLOSED, NARROW = 1.0, 0.0, 0.6  # of the fingers; narrow: between two knobs
NEAR_M, NEAR_RAD = 0.012, 0.08
BACK_M = 0.13  # from which the hand comes to a thing, and to which it leaves
CLEAR_X, CLEAR_Z = 0.40, 0.30  # of the tool on its way from one place to another [m]: before handles, over the kettle
GRIP_STEPS, ARC_STEPS, REACH_STEPS, WAY_STEPS = 3, 3, 10, 14
DOORS = {"microwave": (0.0, 0.2, 0.0), "right_hinge_cabinet": (-0.09, 0.0, 0.65)}
"""Door -> where to take its handle above the middle [m], yaw of the hand there [rad], and how much of the
door's turn the hand follows."""
KNOBS = ("bottom_right_knob", "bottom_left_knob", "top_right_knob", "top_left_knob")
ARC_RAD, ROLL_RAD = 0.12, 0.3  # of a door, and of a knob, in a leg
SPARE = 0.08  # of a joint's range, past what is asked
SLIDE_BELOW, SLIDE_ASIDE, SLIDE_SPARE = -0.09, 0.07, 0.06  # of the slide cabinet's handle [m]
SWITCH_ASIDE, SWITCH_PAST = 0.06, 0.10  # of the light switch [m]
KNOB_BEFORE, SLACK_RAD = 0.008, 0.5  # of the middle of a knob's bar [m], and what its bar turns less than the hand
KETTLE_BACK_M, KETTLE_CLEAR_M = (
    0.10,
    0.13,
)  # before the kettle's handle, close to the base, and over it on the way there
LIFT_M, NEARER_M = 0.035, 0.015  # of the kettle on its way, and before the middle of its place

Part = Open | TurnedOn | Inside


class FrankaExpert(GoalActor):
    """For free text it holds still."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._controller = cast(ToolPose, environment.controller)
        self._way: Way | None = None

    def reset(self, instruction: str, seed: int) -> None:
        super().reset(instruction, seed)
        self._way = None

    def infer(self, observation: Observation) -> Floats:
        if self._way is None:
            self._way = self._next_way()
        if self._way is None:
            return self._controller.still()[None, :]
        leg = self._way.leg
        action = self._towards(leg)
        if not self._way.go_on(self._is_at(leg)):
            self._way = None
        return action[None, :]

    def _next_way(self) -> Way | None:
        view = self._environment.view
        due = next((part for part in _parts(self._goal) if not part.judge(view).success), None)
        return Way([*_legs(self._environment, due)]) if due else None

    def _towards(self, leg: Leg) -> Floats:
        memory, limits = self._controller.memory, self._controller.reach
        move = shortened(leg.spot - memory[self._controller.position], 0.95 * limits.longest_m)
        spin = shortened(_turn(memory[self._controller.quaternion], leg.rotation), 0.7 * limits.longest_rad)
        return np.array([*move, *spin, leg.grip])

    def _is_at(self, leg: Leg) -> bool:
        view, now = self._environment.view, np.empty(4)
        mujoco.mju_mat2Quat(now, view.tool_rotation().ravel())
        near = float(np.linalg.norm(view.tool() - leg.spot)) < NEAR_M
        return near and float(np.linalg.norm(_turn(now, leg.rotation))) < NEAR_RAD


def _parts(goal: Goal | None) -> list[Part]:
    """What of a goal is work, in its order."""
    if isinstance(goal, All):
        return [part for each in goal.goals if not is_condition(each) for part in _parts(each)]
    return [goal] if isinstance(goal, Part) else []


def _legs(environment: Environment, part: Part) -> Iterator[Leg]:
    tool = environment.view.tool().copy()
    yield Leg(np.array([min(CLEAR_X, tool[0]), tool[1], max(CLEAR_Z, tool[2])]), hand(), OPEN, most=WAY_STEPS)
    if tool[1] < 0.0:  # between the far ends there is no straight way
        yield Leg(franka.START, hand(), OPEN, most=WAY_STEPS)
    if isinstance(part, Inside):
        yield from _kettle(environment, part)
    elif part.joint in DOORS:
        yield from _door(environment, cast(Open, part))
    elif part.joint in KNOBS:
        yield from _knob(environment, cast(TurnedOn, part))
    elif part.joint == "light_switch":
        yield from _switch(environment, cast(TurnedOn, part))
    else:
        yield from _slide(environment, cast(Open, part))


def _handle(environment: Environment, joint: str) -> Floats:
    place: Floats = environment.data.site(f"{joint}_handle").xpos.copy()
    return place


def _door(environment: Environment, part: Open) -> Iterator[Leg]:
    """Take the handle, and follow its arc."""
    above, yaw, share = DOORS[part.joint]
    data, model = environment.data, environment.model
    joint = model.joint(part.joint).id
    handle = _handle(environment, part.joint) + np.array([0.0, 0.0, above])
    low, high = model.jnt_range[joint]
    sign = -1.0 if part.closed == "high" else 1.0
    gone = environment.view.joint_share(part.joint)
    gone = 1.0 - gone if part.closed == "high" else gone
    angle = (part.share + SPARE - gone) * float(high - low)
    yield from _come(handle, yaw + sign * share * gone * float(high - low), 0.0, OPEN)
    start = yaw + sign * share * gone * float(high - low)
    yield Leg(handle, hand(start), CLOSED, least=GRIP_STEPS, most=GRIP_STEPS + 2)
    at, facing = handle, start
    for turn in np.linspace(0.0, angle, max(2, int(np.ceil(angle / ARC_RAD)) + 1))[1:]:
        anchor, facing = data.xanchor[joint], start + sign * share * float(turn)
        at = anchor + _about_z(sign * float(turn)) @ (handle - anchor)
        yield Leg(at, hand(facing), CLOSED, most=ARC_STEPS)
    yield Leg(at, hand(facing), OPEN, least=GRIP_STEPS, most=GRIP_STEPS + 1)
    yield Leg(at - BACK_M * hand(facing)[:, 2], hand(facing), OPEN, most=REACH_STEPS)


def _slide(environment: Environment, part: Open) -> Iterator[Leg]:
    """Push the handle to the right with closed fingers."""
    handle = _handle(environment, part.joint) + np.array([0.0, 0.0, SLIDE_BELOW])
    low, high = environment.model.jnt_range[environment.model.joint(part.joint).id]
    to_go = (part.share - environment.view.joint_share(part.joint)) * float(high - low) + SLIDE_SPARE
    beside = handle + np.array([0.0, SLIDE_ASIDE, 0.0])
    yield from _come(beside, 0.0, 0.0, CLOSED)
    end = handle - [0.0, to_go - 0.04, 0.0]
    yield Leg((beside + end) / 2, hand(-0.15), CLOSED, most=REACH_STEPS)
    yield Leg(end, hand(-0.3), CLOSED, most=REACH_STEPS)
    yield Leg(end - [BACK_M, 0.0, 0.0], hand(-0.15), CLOSED, most=REACH_STEPS)


def _switch(environment: Environment, part: TurnedOn) -> Iterator[Leg]:
    """Push the tip of the switch to the left with closed fingers."""
    tip = _handle(environment, part.joint)
    beside, past = tip - np.array([0.0, SWITCH_ASIDE, 0.0]), tip + np.array([0.0, SWITCH_PAST, 0.0])
    yield from _come(beside, 0.0, 0.0, CLOSED)
    yield Leg(past, hand(), CLOSED, most=REACH_STEPS)
    yield Leg(past - [BACK_M, 0.0, 0.0], hand(), CLOSED, most=REACH_STEPS)


def _knob(environment: Environment, part: TurnedOn) -> Iterator[Leg]:
    """Take the bar of the knob and roll the hand."""
    bar = _handle(environment, part.joint) - [KNOB_BEFORE, 0.0, 0.0]
    low, high = environment.model.jnt_range[environment.model.joint(part.joint).id]
    gone = (1.0 - environment.view.joint_share(part.joint)) * float(high - low)
    end = (part.share + SPARE) * float(high - low) + SLACK_RAD
    yield from _come(bar, 0.0, gone, NARROW)
    yield Leg(bar, hand(0.0, gone), CLOSED, least=GRIP_STEPS, most=GRIP_STEPS + 2)
    for roll in np.linspace(gone, end, max(2, int(np.ceil((end - gone) / ROLL_RAD)) + 1))[1:]:
        yield Leg(bar, hand(0.0, float(roll)), CLOSED, most=ARC_STEPS)
    yield Leg(bar, hand(0.0, end), NARROW, least=GRIP_STEPS, most=GRIP_STEPS + 1)
    yield Leg(bar - [BACK_M, 0.0, 0.0], hand(0.0, end), NARROW, most=REACH_STEPS)


def _kettle(environment: Environment, part: Inside) -> Iterator[Leg]:
    """Take the handle from before, with one finger over it and one below, carry it and let go."""
    view = environment.view
    handle, up = environment.data.site("kettle_site").xpos.copy(), np.array([0.0, 0.0, LIFT_M])
    yaw = view.yaw(part.thing) + np.pi / 2
    facing = hand(yaw, np.pi / 2)
    place = view.region(part.region)[0]
    end = np.array([place[0] - NEARER_M, place[1], handle[2]])
    before = handle - KETTLE_BACK_M * facing[:, 2]
    yield Leg(before + np.array([0.02, 0.0, KETTLE_CLEAR_M]), facing, OPEN, most=WAY_STEPS)
    yield Leg(before, facing, OPEN, most=REACH_STEPS)
    yield Leg(handle, facing, OPEN, most=REACH_STEPS)
    yield Leg(handle, facing, CLOSED, least=GRIP_STEPS, most=GRIP_STEPS + 2)
    yield Leg(handle + up, facing, CLOSED, most=REACH_STEPS)
    yield Leg(end + up, facing, CLOSED, most=WAY_STEPS)
    yield Leg(end, facing, CLOSED, most=REACH_STEPS)
    yield Leg(end, facing, OPEN, least=GRIP_STEPS, most=GRIP_STEPS + 1)
    yield Leg(end - BACK_M * facing[:, 2], facing, OPEN, most=REACH_STEPS)


def _come(spot: Floats, yaw: float, roll: float, grip: float) -> Iterator[Leg]:
    """To a spot from before it."""
    facing = hand(yaw, roll)
    before = spot - BACK_M * facing[:, 2]
    yield Leg(np.array([min(CLEAR_X, before[0]), before[1], max(before[2], CLEAR_Z)]), facing, grip, most=WAY_STEPS)
    yield Leg(before, facing, grip, most=WAY_STEPS)
    yield Leg(spot, facing, grip, most=REACH_STEPS)


def hand(yaw: float = 0.0, roll: float = 0.0) -> Floats:
    """Axes (3, 3) of a tool that points ahead, rolled about that direction and then turned about the vertical [rad]."""
    cosine, sine = np.cos(roll), np.sin(roll)
    rolled = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
    return cast(Floats, _about_z(yaw) @ rolled @ franka.AHEAD)


def _about_z(angle: float) -> Floats:
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _turn(now: Floats, rotation: Floats) -> Floats:
    """The rotation vector [rad, base frame] (3,) from a quaternion to axes (3, 3)."""
    wanted, local, way = np.empty(4), np.empty(3), np.empty(3)
    mujoco.mju_mat2Quat(wanted, rotation.ravel())
    mujoco.mju_subQuat(local, wanted, now)
    mujoco.mju_rotVecQuat(way, local, now)
    return way
