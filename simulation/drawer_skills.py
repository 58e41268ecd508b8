"""What the scripted expert does in scenes with the cabinet and in `bridge_*`: it opens and closes drawers, and puts
things, also long ones, on others and into containers.

As all of the expert it is stateless: the action follows from the present state, and from how many stages the goal has
reached. Things are grasped across their narrow side, and carried at a height at which the hand meets nothing.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.goals.joins import All, Stages
from simulation.goals.joints import Closed, Open
from simulation.goals.judging import Goal, is_condition
from simulation.goals.places import Inside, On
from simulation.worlds import World, bridge, cabinet, widowx

OPENED, CLOSING = 1.0, 0.0
TRAVEL = 0.18  # height of the tool [m] between places: high up, the arm reaches less far
CLEARANCE = 0.03  # of the tool over where it lets go, if that is higher [m]
GRASP_OFFSET = 0.002  # the tool grasps this much over a thing's middle [m]
NEAR_XY, NEAR_Z, NEAR_YAW = 0.007, 0.007, 0.14  # where the fingers close [m, rad]
SLOPE = 3.0  # the height over the goal grows with the sideways error
AHEAD = 0.012  # of the sideways error that this step will remove anyway [m]
FAR = 0.05  # sideways error [m] from which on the hand travels
FIT_YAW, YAW_SLOPE = 0.10, 0.16  # fingers wait above until they fit [rad, m/rad]
SQUARE = 0.004  # a footprint whose sides differ less is grasped from either of them [m]
HOLDS_WITHIN = 0.03  # of the tool [m]
SET_WITHIN = 0.004  # of the place and the height at which to let go [m]
STOPPED_Z, STOPPED_XY = 0.005, 0.015  # the hand meets something this much over the command, and lets go there [m]
BELOW_TOP = 0.75  # share of a thing's height over its middle up to which fingers that are stopped close on it
DROP = 0.004  # above where a thing rests when it is let go [m]
DROP_INTO = 0.012  # above a region's middle [m]
ON_CABINET = 0.012  # behind the cabinet's front: further back the arm cannot leave upwards [m]
TOWARDS_ROBOT = 0.014  # from the middle of what a drawer shows of its inside: the hand meets the cabinet less [m]
AT_HANDLE = 0.03  # the hand is still around a handle [m]
HANDLE_GAP = 0.03  # pads closer than this are closed around a handle [m]
ROOM = 0.75  # share of its range from which on a drawer takes things
PULLED, PUSHED = 0.93, 0.03  # share at which the handle is let go
SLIDE = 0.03  # of a handle per step [m]
"""The tool's commanded places are in the base frame [m]."""


class Hand(Protocol):
    """What of the expert's planner these skills use."""

    environment: Environment
    command: Floats
    gap: float

    def go(self, position: Floats, turn: float, gripper: float) -> Floats: ...

    def hold_still(self) -> Floats: ...


def can_do(world: World) -> bool:
    return has_drawers(world) or world.scene_id in bridge.SCENES


def has_drawers(world: World) -> bool:
    """Those of the cabinet, which stands in scenes of moderators too."""
    return cabinet.id in world.targets


def act(hand: Hand, goal: Goal | None, yaw: float) -> Floats:
    """The action (7,) towards the first part of the goal that is not reached. `yaw`: that of the commanded tool."""
    return _Skills(hand, yaw).towards(goal)


def next_part(goal: Goal, environment: Environment) -> Goal | None:
    """The first part that is not reached: of the stage that is due, and conditions after the rest."""
    view = environment.view
    if isinstance(goal, Stages):
        return next_part(goal.ahead(view), environment)
    if isinstance(goal, All):
        parts = sorted(goal.goals, key=is_condition)
        due = next((part for part in parts if not part.judge(view).success), None)
        return next_part(due, environment) if due else None
    return None if goal.judge(view).success else goal


class _Skills:
    def __init__(self, hand: Hand, yaw: float) -> None:
        self.hand, self.yaw = hand, yaw
        self.environment = hand.environment
        self.view = hand.environment.view
        self.command = hand.command

    def towards(self, goal: Goal | None) -> Floats:
        part = next_part(goal, self.environment) if goal else None
        if isinstance(part, Open):
            return self._slide(part.joint, PULLED)
        if isinstance(part, Closed):
            return self._slide(part.joint, PUSHED)
        if isinstance(part, On):
            return self._put(part.thing, *self._top_of(part.thing, part.support))
        if isinstance(part, Inside):
            return self._put_in(part.thing, part.region)
        return self._let_go()

    # --- drawers

    def _slide(self, joint: str, share: float) -> Floats:
        """Take the drawer's handle and lead it until the drawer has come so far."""
        handle = self._site(f"{joint}_handle")
        turn = self._turn(0.0, np.pi)
        if self._has_handle(joint, handle):
            way = self.view.joint_share(joint) - share
            if way * self._direction(share) <= 0:
                return self._let_go()
            # The drawer opens towards the robot.
            lead = float(np.clip(way * cabinet.OPENING * 1.2, -SLIDE, SLIDE))
            place = np.array([self.command[0] + lead, handle[1], handle[2]])
            return self.hand.go(place, turn, CLOSING)
        if self._held() or self._holds_other_handle(joint):
            return self._let_go()
        return self._fetch(handle, turn)

    def _has_handle(self, joint: str, handle: Floats) -> bool:
        """Whether closed fingers stand around it; of a shaken hand, only one may touch it."""
        low = abs(float(self.view.tool()[2] - handle[2])) < NEAR_Z
        return self._around(handle) and low and self.view.pads_touching(joint) >= 1 and self.hand.gap < HANDLE_GAP

    @staticmethod
    def _direction(share: float) -> float:
        """1 when the share is to fall, -1 when it is to rise."""
        return 1.0 if share < 0.5 else -1.0

    def _put_in(self, name: str, region: str) -> Floats:
        """Into a container, which is opened before if it is a drawer."""
        drawer = region.removesuffix("_inside")
        middle = self._site(region)
        if drawer not in cabinet.DRAWERS:
            return self._put(name, middle, float(middle[2]) + DROP_INTO)
        taken = self.view.pads_touching(drawer) == 2
        if not self._holds(name) and self.view.joint_share(drawer) < (PULLED if taken else ROOM):
            return self._slide(drawer, PULLED)
        front, back = float(self.view.position(drawer)[0]), float(self.view.position(cabinet.id)[0])
        place = np.array([(front + back) / 2 - TOWARDS_ROBOT, middle[1], middle[2]])
        return self._put(name, place, float(middle[2]) + DROP_INTO)

    # --- things

    def _put(self, name: str, place: Floats, height: float) -> Floats:
        """Carry a thing over a place and let go of it when its middle is at `height` [m]."""
        if not self._holds(name):
            if self._held() or self._low_at_handle():
                return self._let_go()
            return self._fetch(self._grasp(name), self._across(name), BELOW_TOP * self.view.top(name))
        middle = self.view.position(name)
        grip = self.view.tool() - middle
        error = float(np.hypot(*(place[:2] - middle[:2])))
        goal = np.array([place[0], place[1], height]) + grip
        low = error < SET_WITHIN and float(middle[2]) < height + SET_WITHIN
        if low or (error < STOPPED_XY and self._stopped(goal)):
            return self.hand.go(self.command, 0.0, OPENED)
        return self.hand.go(self._over(goal, error), 0.0, CLOSING)

    def _top_of(self, name: str, support: str) -> tuple[Floats, float]:
        """Where a thing is let go on another: the place, and the height of its middle."""
        place = self.view.position(support).copy()
        if support == cabinet.id:
            place[0] += ON_CABINET
        height = float(place[2]) + self.view.top(support) + self.view.rest_height(name) + DROP
        return place, height

    def _fetch(self, grasp: Floats, turn: float, above: float = NEAR_Z) -> Floats:
        """Come over the place from above and close the fingers there, at most `above` [m] over it."""
        tool, error = self.view.tool(), float(np.hypot(*(grasp[:2] - self.command[:2])))
        low = abs(grasp[2] - tool[2]) < NEAR_Z or (self._stopped(grasp) and tool[2] - grasp[2] < above)
        there = low and float(np.hypot(*(grasp[:2] - tool[:2]))) < NEAR_XY
        wait = YAW_SLOPE * max(0.0, abs(turn) - FIT_YAW)
        goal = self._over(grasp, error) + np.array([0.0, 0.0, wait if error < FAR else 0.0])
        return self.hand.go(goal, turn, CLOSING if there and abs(turn) < NEAR_YAW else OPENED)

    def _stopped(self, goal: Floats) -> bool:
        """Whether something keeps the tool up that was told to be there."""
        down = abs(float(self.command[2] - goal[2])) < SET_WITHIN
        return down and float(self.view.tool()[2] - self.command[2]) > STOPPED_Z

    def _over(self, goal: Floats, error: float) -> Floats:
        """The way to a place: high up while it is far, then down along a funnel."""
        top = max(TRAVEL, float(goal[2]) + CLEARANCE)
        rise = top - float(goal[2]) if error > FAR else SLOPE * max(0.0, error - AHEAD)
        return np.array([goal[0], goal[1], min(top, float(goal[2]) + rise)])

    def _let_go(self) -> Floats:
        """Open the fingers, then leave upwards."""
        touching = any(self.view.pads_touching(name) for name in self._all())
        rise = 0.0 if touching else max(0.0, TRAVEL - float(self.command[2]))
        return self.hand.go(self.command + np.array([0.0, 0.0, rise]), 0.0, OPENED)

    def _grasp(self, name: str) -> Floats:
        place = self.view.position(name)
        return np.array([place[0], place[1], max(widowx.WORKSPACE[0, 2], float(place[2]) + GRASP_OFFSET)])

    def _across(self, name: str) -> float:
        """The turn of the commanded tool to a grasp across the narrow side [rad]."""
        box = self.view.extent(name)
        length, width = (box.high - box.low)[:2]
        period = np.pi / 2 if abs(length - width) < SQUARE else np.pi
        return self._turn(self.view.yaw(name) + (np.pi / 2 if width > length + SQUARE else 0.0), period)

    def _turn(self, yaw: float, period: float) -> float:
        """The shorter way from the commanded yaw to this one, or to one that is whole periods from it [rad]."""
        return float((yaw - self.yaw + period / 2) % period - period / 2)

    # --- what the hand has

    def _holds(self, name: str) -> bool:
        near = float(np.linalg.norm(self.view.position(name) - self.view.tool())) < HOLDS_WITHIN
        return self.view.pads_touching(name) == 2 and near

    def _held(self) -> bool:
        return any(self._holds(name) for name in self.environment.world.objects)

    def _around(self, handle: Floats) -> bool:
        return float(np.linalg.norm(self.view.tool() - handle)) < AT_HANDLE

    def _low_at_handle(self) -> bool:
        """Whether the fingers still stand around a handle, which a move aside would take along."""
        return any(self._around(self._site(f"{name}_handle")) for name in self._drawers())

    def _holds_other_handle(self, joint: str) -> bool:
        return any(self._around(self._site(f"{name}_handle")) for name in self._drawers() if name != joint)

    def _drawers(self) -> tuple[str, ...]:
        return cabinet.DRAWERS if has_drawers(self.environment.world) else ()

    def _all(self) -> tuple[str, ...]:
        return (*self.environment.world.objects, *self._drawers())

    def _site(self, name: str) -> Floats:
        place: Floats = self.environment.data.site(name).xpos.copy()
        return place
