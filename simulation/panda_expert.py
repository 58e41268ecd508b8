"""The scripted expert of the Panda in LIBERO's scenes: it picks a thing up and puts it where the goal wants it.

It reads the simulator's state, and no picture. Over, down, close, lift, over, down, release; what is wider than the
hand is grasped by its rim (simulation.panda_rims). Drawers and knobs go other ways (simulation.panda_ways).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

import numpy as np

from simulation.contracts import Floats, Observation
from simulation.control.torque import POSITION_M, ROTATION_RAD
from simulation.environment import Environment
from simulation.goal_actor import GoalActor
from simulation.goals import Goal, View
from simulation.goals.benchmark import OverRegion, Past, RestsOver, WithinRegion
from simulation.goals.joins import All, Any
from simulation.panda_rims import best_rim
from simulation.panda_ways import Way, closed_drawer, joint_way, nearer, rotation_between, way_out

GAIN = 1.6  # of the way to a place that one action asks for
HOLD = 3.0  # of the same where the hand closes: near its stand the arm drifts
HAND_M = 0.070  # widest thing between the open fingers, with some room
HOVER_M, LIFT_M = 0.10, 0.12  # over a thing before, and its own rise after it is grasped
FAR_M = 0.05  # from there, within which the hand comes down
RIM_DEPTH_M, GRASP_DEPTH_M = 0.027, 0.035  # of the finger tips under a thing's upper side
FLOOR_M, RIM_FLOOR_M = 0.006, 0.012  # of the tool over what the thing stands on, at least
NEAR_M, NEAR_RAD = 0.008, 0.10
CLOSE_STEPS, OPEN_STEPS, PATIENCE = 10, 6, 45
MOVES_M = 0.0005  # of the fingers in a step, below which they hold something
FREED_M, GENTLE_M = 0.025, 0.012  # first part of a lift, and how far it goes in a step there
STUCK_STEPS = 6  # on the way to a thing, after which another side of it is tried
YAWS = np.deg2rad([0, 15, -15, 30, -30, 45, -45, 60, -60, 75, -75, 90])
FLAT_M, SLIDE_M = 0.035, 0.008  # things that are no higher are drawn over the table, lifted so much
LOST_M, LOST_FLAT_M = 0.07, 0.04  # that a thing may slip or swing in the hand
DROP_M = 0.05  # over a container's upper side, from which a thing may fall

THERE_M, THERE_RAD = 0.008, 0.10

Placing = RestsOver | OverRegion | WithinRegion
Part = Placing | Past


class Phase(Enum):
    OVER = auto()
    DOWN = auto()
    CLOSE = auto()
    LIFT = auto()
    CARRY = auto()
    LOWER = auto()
    OPEN = auto()
    RISE = auto()


@dataclass
class Attempt:
    """One way of bringing one thing to its place. `spot`: of the tool when it grasps (3,) [m]; `yaw`: of the line
    between the fingers [rad]; `held`: from the tool to the thing when the hand closed (3,) [m]; `closing`:
    where it closes; `flat`: it is drawn over the table; `width`: between the fingers [m].
    """

    goal: Placing
    spot: Floats
    yaw: float
    flat: bool = False
    width: float = 0.0
    phase: Phase = Phase.OVER
    steps: int = 0
    stuck: int = 0
    before: Floats = field(default_factory=lambda: np.zeros(3))
    held: Floats = field(default_factory=lambda: np.zeros(3))
    closing: Floats = field(default_factory=lambda: np.zeros(3))

    def go(self, phase: Phase) -> None:
        self.phase, self.steps, self.stuck = phase, 0, 0


class PandaExpert(GoalActor):
    """For free text and goals that it cannot reach it holds still."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._attempt: Attempt | Way | None = None
        self._tries = 0  # attempts that have ended

    def reset(self, instruction: str, seed: int) -> None:
        self._attempt, self._tries = None, 0
        super().reset(instruction, seed)

    def infer(self, observation: Observation) -> Floats:
        hand = Hand(self._environment)
        if self._attempt is None:
            due = self._due(hand.view)
            if due is None:
                return hand.still()[None, :]
            self._attempt = hand.attempt(due, self._tries)
        action, more = hand.follow(self._attempt) if isinstance(self._attempt, Way) else hand.act(self._attempt)
        if not more:
            self._tries += isinstance(self._attempt, Attempt)
            self._attempt = None
        return action[None, :]

    def _due(self, view: View) -> Part | None:
        """The first part of the goal that is not reached. Things come before joints: a drawer is closed at last."""
        missing = [part for part in _parts(self._goal) if not part.judge(view).success]
        return next((part for part in missing if isinstance(part, Placing)), next(iter(missing), None))


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
        self._controller = environment.controller
        self.view = environment.view
        self.tool = self.view.tool().copy()

    def still(self) -> Floats:
        return self._controller.still()

    def attempt(self, goal: Part, tries: int) -> Attempt | Way:
        """What to do next for a part of the goal."""
        if isinstance(goal, Past):
            return joint_way(self._model, self._data, goal)
        if isinstance(goal, WithinRegion) and (closed := closed_drawer(self._model, self._data, goal.region)):
            return joint_way(self._model, self._data, closed)
        return self._grasp(goal, tries)

    def _grasp(self, goal: Placing, tries: int) -> Attempt:
        """Where to grasp the thing: across its narrow side, or at its rim if it is too wide."""
        points = self._corners(goal.thing)
        top, below = float(points[:, 2].max()), float(points[:, 2].min())
        middle = (points[:, :2].max(0) + points[:, :2].min(0)) / 2
        upper = points[points[:, 2] > top - 0.05, :2]
        widths = [float(np.ptp(upper @ _line(yaw))) for yaw in YAWS]
        fitting = [yaw for yaw, width in zip(YAWS, widths, strict=True) if width <= HAND_M]
        flat = isinstance(goal, OverRegion) and not goal.of and top - below < FLAT_M
        if fitting:
            depth = min(GRASP_DEPTH_M, (top - below) * 0.6)
            spot, yaw = middle, float(fitting[0])
        else:
            depth = min(RIM_DEPTH_M, top - below - RIM_FLOOR_M)
            way = self._target(goal) - np.array([*self.view.position(goal.thing)[:2], below])
            bodies = [self._model.body(name).id for name in (goal.thing, *_support(goal))]
            spot, yaw = best_rim(self._model, self._data, bodies, points, top - depth, way, tries)
        height = max(top - depth, below + FLOOR_M)
        return Attempt(goal, np.array([*spot, height]), yaw, flat)

    def follow(self, way: Way) -> tuple[Floats, bool]:
        """The next action on a way, and whether it goes on."""
        leg = way.leg
        wanted = nearer(leg.rotation, self.view.tool_rotation())
        turn = rotation_between(self.view.tool_rotation(), wanted)
        near = float(np.linalg.norm(leg.spot - self.tool)) < THERE_M and float(np.linalg.norm(turn)) < THERE_RAD
        action = np.array([*self._move(leg.spot), *np.clip(GAIN * turn / ROTATION_RAD, -1.0, 1.0), leg.grip])
        return action, way.go_on(near)

    def act(self, attempt: Attempt) -> tuple[Floats, bool]:
        """The next action, and whether the attempt goes on."""
        attempt.steps += 1
        moved = float(np.linalg.norm(self.tool - attempt.before))
        attempt.stuck = attempt.stuck + 1 if moved < 0.0005 else 0
        attempt.before = self.tool.copy()
        return getattr(self, f"_{attempt.phase.name.lower()}")(attempt)  # type: ignore[no-any-return]

    def _over(self, attempt: Attempt) -> tuple[Floats, bool]:
        spot = attempt.spot + HOVER_M * UP
        if float(np.hypot(*(spot - self.tool)[:2])) > FAR_M:
            spot[2] = max(spot[2], self.tool[2])  # it comes down only when it is nearly over the thing
        if self._at(spot, attempt) or attempt.steps > 2 * PATIENCE:
            attempt.go(Phase.DOWN)
        elif attempt.stuck > STUCK_STEPS:
            return self._to(self.tool + HOVER_M * UP, attempt.yaw, False), False
        return self._to(spot, attempt.yaw, False), True

    def _down(self, attempt: Attempt) -> tuple[Floats, bool]:
        if abs(self.tool[2] - attempt.spot[2]) < 0.006 or attempt.stuck > 4 or attempt.steps > PATIENCE:
            low = attempt.spot[2] if abs(self.tool[2] - attempt.spot[2]) < NEAR_M else self.tool[2]
            attempt.closing = np.array([*attempt.spot[:2], low])
            attempt.go(Phase.CLOSE)
        return self._to(attempt.spot, attempt.yaw, False), True

    def _close(self, attempt: Attempt) -> tuple[Floats, bool]:
        width = float(np.linalg.norm(np.subtract(*self._data.geom_xpos[self._pads])))
        closing, attempt.width = abs(width - attempt.width) > MOVES_M, width
        if attempt.steps >= CLOSE_STEPS and (not closing or attempt.steps > 2 * CLOSE_STEPS):
            attempt.held = self.view.position(attempt.goal.thing) - self.tool
            attempt.go(Phase.LIFT)
        firm = self.tool + HOLD * (attempt.closing - self.tool)
        return self._to(firm, attempt.yaw, True), True

    def _lift(self, attempt: Attempt) -> tuple[Floats, bool]:
        if self._lost(attempt):
            attempt.go(Phase.OPEN)
            return self._to(self.tool, attempt.yaw, False), True
        height = self._travel(attempt)
        if self.tool[2] > height - 0.015 or attempt.steps > PATIENCE:
            attempt.go(Phase.CARRY)
        freed = self.tool[2] > attempt.spot[2] + FREED_M
        height = height if freed else min(height, self.tool[2] + GENTLE_M)
        return self._to(np.array([*attempt.spot[:2], height]), attempt.yaw, True), True

    def _carry(self, attempt: Attempt) -> tuple[Floats, bool]:
        if self._lost(attempt):
            attempt.go(Phase.OPEN)
            return self._to(self.tool, attempt.yaw, False), True
        way = self._target(attempt.goal)[:2] - self.view.position(attempt.goal.thing)[:2]
        spot = np.array([*(self.tool[:2] + way), self._travel(attempt)])
        if float(np.hypot(*way)) < 0.010 or attempt.steps > 2 * PATIENCE:
            attempt.go(Phase.LOWER)
        return self._to(spot, attempt.yaw, True), True

    def _lower(self, attempt: Attempt) -> tuple[Floats, bool]:
        goal = attempt.goal
        way = self._target(goal)[:2] - self.view.position(goal.thing)[:2]
        bottom = float(self._corners(goal.thing)[:, 2].min())
        drop = DROP_M if isinstance(goal, WithinRegion) else 0.004
        landed = bottom < self._target(goal)[2] + drop or self._stands(goal)
        if landed or (attempt.stuck > 4 and attempt.steps > 8) or attempt.steps > PATIENCE:
            attempt.go(Phase.OPEN)
        down = max(-0.03, self._target(goal)[2] + drop - 0.004 - bottom)
        return self._to(np.array([*(self.tool[:2] + way), self.tool[2] + down]), attempt.yaw, True), True

    def _open(self, attempt: Attempt) -> tuple[Floats, bool]:
        if attempt.steps >= OPEN_STEPS:
            attempt.go(Phase.RISE)
        return self._to(self.tool, attempt.yaw, False), True

    def _rise(self, attempt: Attempt) -> tuple[Floats, bool]:
        return self._to(self.tool + 0.08 * UP, attempt.yaw, False), attempt.steps < 12

    def _lost(self, attempt: Attempt) -> bool:
        """Whether the thing did not come along."""
        now = self.view.position(attempt.goal.thing) - self.tool
        return float(np.linalg.norm(now - attempt.held)) > (LOST_FLAT_M if attempt.flat else LOST_M)

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

    def _travel(self, attempt: Attempt) -> float:
        """The height of the tool on the way [m]: what hangs below it clears the place, and the thing's surroundings."""
        goal = attempt.goal
        if attempt.flat:
            return float(attempt.spot[2] + SLIDE_M)
        hanging = float(self.tool[2] - self._corners(goal.thing)[:, 2].min())
        top = self._target(goal)[2]
        if isinstance(goal, RestsOver):
            top = float(self._corners(goal.support)[:, 2].max())
        return float(max(attempt.spot[2] + LIFT_M, top + 0.04 + hanging))

    def _at(self, spot: Floats, attempt: Attempt) -> bool:
        near = float(np.hypot(*(spot - self.tool)[:2])) < NEAR_M and abs(self.tool[2] - spot[2]) < 0.03
        return near and abs(self._yaw_error(attempt.yaw)) < NEAR_RAD

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
        found = []
        for geom in range(model.ngeom):
            body = int(model.geom_bodyid[geom])
            while body not in (root, 0):
                body = int(model.body_parentid[body])
            if body == root and (model.geom_contype[geom] or model.geom_conaffinity[geom]):
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
