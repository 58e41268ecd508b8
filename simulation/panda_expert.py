"""The scripted expert of the Panda in LIBERO's scenes: it picks a thing up and puts it where the goal wants it.

It reads the simulator's state, and no picture. What it does with things depends on the present state alone, so that it
can label any state: over, down, close, up, over, down, open, up; what is wider than the hand is grasped by its rim
(simulation.panda_rims). Drawers and knobs go ways of many legs, of which it remembers the present one
(simulation.panda_ways).
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from simulation.contracts import Floats, Observation
from simulation.control.torque import POSITION_M, ROTATION_RAD, TorqueControl
from simulation.environment import Environment
from simulation.goal_actor import GoalActor
from simulation.goals import Goal
from simulation.goals.benchmark import OverRegion, Past, RestsOver, WithinRegion
from simulation.goals.joins import All, Any
from simulation.panda_rims import best_rim, boxes_about
from simulation.panda_ways import Way, closed_drawer, joint_way, nearer, rotation_between, way_out
from simulation.worlds import panda

GAIN = 1.6  # of the way to a place that one action asks for
FIRM = 2.5  # times as far it asks to go near its grasp, from which a stretched arm drifts
HAND_M = 0.070  # widest thing between the open fingers, with some room
HOVER_M, FAR_M = 0.10, 0.05  # over a thing before, and how far aside of it the hand comes down at last
RIM_DEPTH_M, GRASP_DEPTH_M = 0.027, 0.035  # of the finger tips under a thing's upper side
FLOOR_M, RIM_FLOOR_M = 0.006, 0.012  # of the tool over what the thing stands on, at least
NEAR_M, LEVEL_M, NEAR_RAD = 0.008, 0.006, 0.10  # of the tool from its grasp, beside it and along z
LOOSER = 2.5  # times as far off it may be once the fingers have begun to close
METRES_PER_RAD = 0.08  # a turn that is off counts as so far aside
FUNNEL_M, STEEP_M, RISE_M = 0.03, 0.012, 0.04  # over a place, and over a grasp
OVER_M, GONE_M = 0.010, 0.03  # of a thing from the middle of its place: to be let down, and to be left
SLOW, PRESSED = 0.012, 0.9  # speed of fingers that hold [m/s], and how far they are commanded to close
OPENED_M = 0.070  # apart are fingers that have opened
CLEAR_M, ASIDE_M = 0.03, 0.05  # over all that stands so near a thing's way
FLAT_M, SLIDE_M = 0.035, 0.008  # things that are no higher are drawn over the table, lifted so much
DROP_M, STANDING_M = 0.05, 0.004  # over a container's upper side, from which a thing may fall; over anything else's
LEAVE_M = 0.08
YAWS = np.deg2rad([0, 15, -15, 30, -30, 45, -45, 60, -60, 75, -75, 90])
ALONG = np.linspace(0.0, 1.0, 9)[:, None]

Placing = RestsOver | OverRegion | WithinRegion
Part = Placing | Past


class Grasp(NamedTuple):
    """`spot`: of the tool when the hand closes (3,) [m]; `yaw`: of the line between the fingers [rad]."""

    spot: Floats
    yaw: float


class PandaExpert(GoalActor):
    """For free text and goals that it cannot reach it holds still."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._way: Way | None = None

    def reset(self, instruction: str, seed: int) -> None:
        self._way = None
        super().reset(instruction, seed)

    def infer(self, observation: Observation) -> Floats:
        hand = Hand(self._environment)
        part = None if self._way else hand.due(_parts(self._goal))
        self._way = self._way or (hand.way(part) if part else None)
        if self._way:
            action, more = hand.follow(self._way)
            self._way = self._way if more else None
        else:
            action = hand.towards(part) if isinstance(part, Placing) else self._environment.controller.still()
        return action[None, :]


def act(environment: Environment, goal: Goal | None) -> Floats:
    """The expert's action (7,) for the present state, of a goal that has begun; still where it would need a way."""
    hand, parts = Hand(environment), _parts(goal)
    part = hand.due(parts) or (parts[-1] if parts else None)
    if isinstance(part, Placing) and hand.way(part) is None:
        return hand.towards(part)
    return environment.controller.still()


def due(environment: Environment, goal: Goal) -> Goal | None:
    """The part of a goal that has begun at which `act` works now; None once all are reached."""
    return Hand(environment).due(_parts(goal))


def _parts(goal: Goal | None) -> list[Part]:
    """What a goal is made of, of alternatives the first."""
    if isinstance(goal, All):
        return [part for each in goal.goals for part in _parts(each)]
    if isinstance(goal, Any):
        return _parts(goal.goals[0])
    return [goal] if isinstance(goal, Part) else []


class Hand:
    """The arm in the present state."""

    def __init__(self, environment: Environment) -> None:
        self._model, self._data = environment.model, environment.data
        self._pads = [environment.model.geom(name).id for name in environment.world.pads]
        self.view = environment.view
        self.tool = self.view.tool().copy()
        self._closing = cast(TorqueControl, environment.controller).closing
        joints = [environment.model.joint(panda.PREFIX + name) for name in panda.FINGER_JOINTS]
        self._apart = sum(abs(float(self._data.qpos[joint.qposadr[0]])) for joint in joints)
        self._speed = max(abs(float(self._data.qvel[joint.dofadr[0]])) for joint in joints)

    def due(self, parts: list[Part]) -> Part | None:
        """The first part of the goal that is not reached, or whose thing is still in the hand. Things come before
        joints: a drawer is closed at last.
        """
        missing = [part for part in parts if not self._is_done(part)]
        return next((part for part in missing if isinstance(part, Placing)), next(iter(missing), None))

    def _is_done(self, part: Part) -> bool:
        held = isinstance(part, Placing) and self.view.hand_touching(part.thing)
        return part.judge(self.view).success and not held

    def way(self, part: Part) -> Way | None:
        """How to move a joint past its value, or to open the drawer into which a thing is to come if that is shut."""
        if isinstance(part, Past):
            return joint_way(self._model, self._data, part)
        closed = closed_drawer(self._model, self._data, part.region) if isinstance(part, WithinRegion) else None
        return joint_way(self._model, self._data, closed) if closed else None

    def towards(self, part: Placing) -> Floats:
        """The next action (7,) for a part of the goal."""
        way = self._target(part)[:2] - self.view.position(part.thing)[:2]
        over = self._bottom(part) - self._target(part)[2]
        drop = DROP_M if isinstance(part, WithinRegion) else STANDING_M
        if self._holds(part.thing):
            return self._bring(part, way, over - drop)
        if float(np.hypot(*way)) < GONE_M and over < drop + 0.02:
            return self._leave(part)
        return self._fetch(part)

    def _holds(self, thing: str) -> bool:
        """Whether the fingers press and have come to rest at the thing: between the pads, or where a narrow neck is."""
        between = self.view.pads_touching(thing) == 2
        firm = self._closing > PRESSED and self._speed < SLOW
        return firm and (between or (self._apart < OPENED_M and self.view.hand_touching(thing)))

    def _is_flat(self, part: Placing) -> bool:
        """Whether a thing is drawn over the table to a place on it."""
        height = float(np.ptp(self._corners(part.thing)[:, 2]))
        return isinstance(part, OverRegion) and not part.of and height < FLAT_M

    def _bottom(self, part: Placing) -> float:
        return float(self._corners(part.thing)[:, 2].min())

    def _bring(self, part: Placing, way: Floats, over: float) -> Floats:
        """`way` (2,), `over` [m]: from the thing to its place, and how far it is above where it is let go."""
        aside = float(np.hypot(*way))
        if aside < OVER_M and (over < 0.0 or self._stands(part)):
            return self._to(self.tool, self._yaw(), False)
        if self._is_flat(part):
            clear = float(self._target(part)[2]) + RIM_FLOOR_M + SLIDE_M - float(self.tool[2])
        else:
            clear = self._clear(part, way) - self._bottom(part)  # that the thing is to rise
        wanted = np.clip((aside - OVER_M) / FUNNEL_M, 0.0, 1.0)
        rise = wanted * clear + (1.0 - wanted) * max(-0.03, -over - 0.004)
        share = np.clip(1.0 - (clear - RISE_M / 2) / RISE_M, 0.0, 1.0) if aside > FUNNEL_M else 1.0
        return self._to(self.tool + np.array([*(share * way), rise]), self._yaw(), True)

    def _clear(self, part: Placing, way: Floats) -> float:
        """The height over all that stands on a thing's way [m]."""
        place, turn, half = boxes_about(self._model, self._data, [self._model.body(part.thing).id])
        extent = np.einsum("bij,bj->bi", np.abs(turn), half)
        points = self.view.position(part.thing)[:2] + ALONG * way
        off = np.maximum(np.abs(points[:, None] - place[:, :2]) - extent[:, :2], 0.0)
        met = (np.linalg.norm(off, axis=2) < ASIDE_M).any(0)
        tops = (place[:, 2] + extent[:, 2])[met]
        return float(tops.max(initial=self._target(part)[2])) + CLEAR_M

    def _fetch(self, part: Placing) -> Floats:
        grasp = self._grasp(part)
        turn, beside = abs(self._yaw_error(grasp.yaw)), float(np.hypot(*(grasp.spot - self.tool)[:2]))
        level = abs(float(self.tool[2] - grasp.spot[2]))
        times = 1.0 if self._apart > OPENED_M else LOOSER
        if beside < times * NEAR_M and turn < times * NEAR_RAD and level < times * LEVEL_M:
            return self._to(grasp.spot, grasp.yaw, True)
        off = max(beside - 0.75 * NEAR_M, (turn - NEAR_RAD / 2) * METRES_PER_RAD)
        height = float(grasp.spot[2]) + HOVER_M * float(np.clip(off / STEEP_M, 0.0, 1.0))
        if beside > FAR_M:
            height = max(height, float(self.tool[2]))
        share = np.clip(1.0 - (height - self.tool[2] - RISE_M) / RISE_M, 0.0, 1.0) if beside > NEAR_M else 1.0
        firmly = FIRM if beside < FUNNEL_M else 1.0
        spot = self.tool[:2] + share * firmly * (grasp.spot - self.tool)[:2]
        return self._to(np.array([*spot, height]), grasp.yaw, False)

    def _leave(self, part: Placing) -> Floats:
        free = self._apart > OPENED_M or not self.view.hand_touching(part.thing)
        up = LEAVE_M if free else 0.0
        return self._to(self.tool + np.array([0.0, 0.0, up]), self._yaw(), False)

    def _yaw(self) -> float:
        """That of the line between the fingers [rad]."""
        return -self._yaw_error(0.0)

    def _grasp(self, goal: Placing) -> Grasp:
        """Where to grasp the thing: across its narrow side, or at its rim if it is too wide."""
        points = self._corners(goal.thing)
        top, below = float(points[:, 2].max()), float(points[:, 2].min())
        upper = points[points[:, 2] > top - 0.05, :2]
        widths = [float(np.ptp(upper @ _line(yaw))) for yaw in YAWS]
        fitting = [yaw for yaw, width in zip(YAWS, widths, strict=True) if width <= HAND_M]
        if fitting:
            depth = min(GRASP_DEPTH_M, (top - below) * 0.6)
            spot, yaw = (points[:, :2].max(0) + points[:, :2].min(0)) / 2, float(fitting[0])
        else:
            depth = min(RIM_DEPTH_M, top - below - RIM_FLOOR_M)
            way = self._target(goal) - np.array([*self.view.position(goal.thing)[:2], below])
            bodies = [self._model.body(name).id for name in (goal.thing, *_support(goal))]
            spot, yaw = best_rim(self._model, self._data, bodies, points, top - depth, way, self.tool)
        return Grasp(np.array([*spot, max(top - depth, below + FLOOR_M)]), yaw)

    def follow(self, way: Way) -> tuple[Floats, bool]:
        """The next action on a way, and whether it goes on."""
        leg = way.leg
        wanted = nearer(leg.rotation, self.view.tool_rotation())
        turn = rotation_between(self.view.tool_rotation(), wanted)
        near = float(np.linalg.norm(leg.spot - self.tool)) < NEAR_M and float(np.linalg.norm(turn)) < NEAR_RAD
        action = np.array([*self._move(leg.spot), *np.clip(GAIN * turn / ROTATION_RAD, -1.0, 1.0), leg.grip])
        return action, way.go_on(near)

    def _stands(self, goal: Placing) -> bool:
        """Whether the thing has come down on what it is to stand on."""
        return any(self.view.touching(goal.thing, support) for support in _support(goal))

    def _target(self, goal: Placing) -> Floats:
        """Where the thing's underside is to come (3,) [m]: of a container, its rim."""
        if isinstance(goal, RestsOver):
            return np.array([*self.view.position(goal.support)[:2], self._corners(goal.support)[:, 2].min()])
        at, rotation, size = self.view.region(goal.region)
        half = np.abs(rotation @ size)
        return np.array([at[0], at[1], at[2] + half[2]]) + way_out(self._model, self._data, goal.region)

    def _to(self, spot: Floats, yaw: float, closed: bool) -> Floats:
        """The action (7,) that brings the tool nearer to a place [m], pointing down, with the fingers along a line."""
        approach = self.view.tool_rotation()[:, 2]
        spin = np.cross(approach, -UP) + self._yaw_error(yaw) * UP
        turn = np.clip(GAIN * spin / ROTATION_RAD, -1.0, 1.0)
        return np.array([*self._move(spot), *turn, 1.0 if closed else -1.0])

    def _move(self, spot: Floats) -> Floats:
        """The part of an action (3,) that goes straight to a place [m]."""
        way = GAIN * (spot - self.tool) / POSITION_M
        return np.asarray(way / max(1.0, float(np.abs(way).max())))

    def _yaw_error(self, yaw: float) -> float:
        """The shorter turn about z that brings the line between the fingers there [rad]."""
        line = self._data.geom_xpos[self._pads[0]] - self._data.geom_xpos[self._pads[1]]
        now = float(np.arctan2(-line[0], line[1]))
        return float((yaw - now + np.pi / 2) % np.pi - np.pi / 2)

    def _corners(self, thing: str) -> Floats:
        """The corners (n, 3) [m] of the boxes around all of a thing's geoms that touch things."""
        model, data = self._model, self._data
        root = int(model.body(thing).id)
        solid = (model.geom_contype | model.geom_conaffinity).astype(bool)
        solid &= model.body_rootid[model.geom_bodyid] == model.body_rootid[root]
        found = []
        for geom in np.flatnonzero(solid):
            body = int(model.geom_bodyid[geom])
            while body not in (root, 0):
                body = int(model.body_parentid[body])
            if body == root:
                half, middle = model.geom_aabb[geom, 3:], model.geom_aabb[geom, :3]
                local = middle + half * CORNERS
                found.append(data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T)
        return np.concatenate(found) if found else data.xpos[root][None, :]


UP = np.array([0.0, 0.0, 1.0])
CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _line(yaw: float) -> Floats:
    """The direction (2,) of the line between the fingers, which is y at a yaw of 0."""
    return np.array([-np.sin(yaw), np.cos(yaw)])


def _support(goal: Placing) -> tuple[str, ...]:
    """What the thing is to stand on, if the goal says so."""
    support = goal.support if isinstance(goal, RestsOver) else goal.of if isinstance(goal, OverRegion) else ""
    return (support,) if support else ()
