"""The scripted expert of the UR5e: it lifts cartons, and puts them into bins and on shelves.

It reads the simulator's state, and no picture. It is stateless: the action depends on the present state, so that it
recovers from slips. Over, down, close, up, over, down, open, up.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from simulation.contracts import Floats, Observation
from simulation.control.tool_pose import ToolPose
from simulation.environment import Environment
from simulation.goal_actor import GoalActor
from simulation.goals import Goal
from simulation.goals.handling import Lifted, Placed
from simulation.goals.joins import All
from simulation.goals.places import In
from simulation.worlds import ur5e

TRAVEL_M = 0.26  # height of the tool on its way, over shelves and bins
HOVER_M = 0.09  # over a thing, before the hand comes down
NEAR_M, NEAR_RAD = 0.008, 0.08
HELD_M = 0.03  # of a held thing's middle from the tool
CLOSING = 0.25  # speed of the fingers over which they are not closed yet [rad/s]
LIFT_M, DROP_M, FARTHEST_YAW = 0.12, 0.015, 2.0
FAR_M, FUNNEL_M, RISE_M = 0.06, 0.03, 0.03
METRES_PER_RAD = 0.1  # a turn that is off counts as so far aside
TURN_RAD = 0.35  # longest turn in a step

Part = Lifted | Placed | In


class Ur5eExpert(GoalActor):
    """For free text and goals that it cannot reach it holds still."""

    def infer(self, observation: Observation) -> Floats:
        return act(self._environment, self._goal)[None, :]


def act(environment: Environment, goal: Goal | None) -> Floats:
    """The expert's action (7,) for the present state, of a goal that has begun; still for what it cannot do."""
    hand, parts = _Hand(environment), _parts(goal)
    due = hand.due(parts) or (parts[-1] if parts else None)
    return hand.towards(due) if due else environment.controller.still()


def due(environment: Environment, goal: Goal) -> Goal | None:
    """The part of a goal that has begun at which `act` works now; None once all are reached."""
    return _Hand(environment).due(_parts(goal))


def _parts(goal: Goal | None) -> list[Part]:
    """What of a goal is work."""
    if isinstance(goal, All):
        return [part for each in goal.goals for part in _parts(each)]
    return [goal] if isinstance(goal, Part) else []


class _Hand:
    """The arm in the present state."""

    def __init__(self, environment: Environment) -> None:
        self._model, self._data = environment.model, environment.data
        self._things = environment.world.objects
        self.view = environment.view
        controller = cast(ToolPose, environment.controller)
        self._command = controller.memory[controller.position]
        self.tool = self.view.tool()

    def due(self, parts: list[Part]) -> Part | None:
        """The first that is not done."""
        return next((part for part in parts if not self.is_done(part)), None)

    def is_done(self, part: Part) -> bool:
        """Whether it is reached, and the hand is away from it."""
        if not part.judge(self.view).success:
            return False
        return isinstance(part, Lifted) or self.view.pads_touching(part.thing) == 0

    def towards(self, part: Part) -> Floats:
        """The next action (7,) for a part of the goal."""
        place = self.view.position(part.thing)
        if isinstance(part, Lifted):
            up = np.array([*self._command[:2], self.view.rest_height(part.thing) + part.height_m + LIFT_M])
            return self._go(up, 0.0, False) if self._holds(part.thing) else self._fetch(part.thing)
        target = self._target(part)
        there = float(np.hypot(*(target - place)[:2])) < 2 * NEAR_M and place[2] < target[2] + NEAR_M
        if part.judge(self.view).success and not self._holds(part.thing):
            return self._leave()
        if there:
            return self._go(self._command, 0.0, True) if self._holds(part.thing) else self._leave()
        return self._carry(place, target) if self._holds(part.thing) else self._fetch(part.thing)

    def _target(self, part: Placed | In) -> Floats:
        """Where the thing's middle is to be when the hand opens (3,) [m]."""
        name = part.container if isinstance(part, In) else part.support
        middle, box = self.view.position(name), self.view.extent(name)
        half = float(self.view.extent(part.thing).high[2])
        taken = [other for other in self._others(part) if self._is_over(other, name)]
        aside = self._aside(taken, middle, box.high)
        if isinstance(part, In):
            return np.array([*(middle[:2] + aside), middle[2] + box.high[2] + DROP_M])
        return np.array([*(middle[:2] + aside), middle[2] + self.view.top(name) + half + 0.002])

    def _others(self, part: Part) -> list[str]:
        return [name for name in self._things if name != part.thing]

    def _is_over(self, thing: str, support: str) -> bool:
        way = np.abs(self.view.position(thing) - self.view.position(support))[:2]
        return bool((way < self.view.extent(support).high[:2] + 0.02).all())

    def _aside(self, taken: list[str], middle: Floats, half: Floats) -> Floats:
        """The way from the middle of a support to where there is most room beside what stands there (2,) [m]."""
        if not taken:
            return np.zeros(2)
        spots = [np.array([0.0, share * half[1]]) for share in (-0.6, 0.0, 0.6)]
        places = [self.view.position(name)[:2] - middle[:2] for name in taken]
        return max(spots, key=lambda spot: min(float(np.hypot(*(spot - place))) for place in places))

    def _holds(self, name: str) -> bool:
        both = self.view.pads_touching(name) == 2
        return both and float(np.linalg.norm(self.tool - self.view.position(name))) < HELD_M and self._is_firm()

    def _is_firm(self) -> bool:
        joint = self._model.joint(ur5e.PREFIX + ur5e.DRIVER)
        return abs(float(self._data.qvel[joint.dofadr[0]])) < CLOSING

    def _fetch(self, name: str) -> Floats:
        place, rotation = self.view.position(name), self.view.rotation(name)
        turn = self._turn_to(float(np.arctan2(rotation[1, 0], rotation[0, 0])))
        aside = float(np.hypot(*(place - self.tool)[:2]))
        off = max(aside - NEAR_M, (abs(turn) - NEAR_RAD) * METRES_PER_RAD)
        way = self._over(np.array([*place]), off, HOVER_M, aside)
        there = off < 0.5 * NEAR_M and abs(float(self.tool[2] - place[2])) < NEAR_M
        return self._travel(way, turn, not there)

    def _carry(self, place: Floats, target: Floats) -> Floats:
        grip = self.tool - place
        aside = float(np.hypot(*(target - place)[:2]))
        spot = target + grip - [0.0, 0.0, 0.004]
        return self._travel(self._over(spot, aside - NEAR_M, TRAVEL_M - float(spot[2]), aside), 0.0, False)

    def _over(self, spot: Floats, off: float, hover: float, aside: float) -> Floats:
        """Where to go on the way down to a spot (3,) [m]: `hover` over it while the hand is off by FUNNEL_M or more,
        and as high as all that stands about while it is far aside [m].
        """
        height = float(spot[2]) + hover * float(np.clip(off / FUNNEL_M, 0.0, 1.0))
        far = float(np.clip((aside - FAR_M) / FAR_M, 0.0, 1.0))
        return np.array([*spot[:2], height + far * max(0.0, TRAVEL_M - height)])

    def _leave(self) -> Floats:
        return self._go(np.array([*self._command[:2], TRAVEL_M]), 0.0, True)

    def _travel(self, spot: Floats, turn: float, is_open: bool) -> Floats:
        """The further below its way, the more it goes up before it goes sideways."""
        below = float(spot[2] - self.tool[2])
        share = float(np.clip(1.0 - (below - RISE_M) / RISE_M, 0.0, 1.0))
        aside = self._command[:2] + share * (spot[:2] - self._command[:2])
        return self._go(np.array([*aside, spot[2]]), turn, is_open)

    def _go(self, spot: Floats, turn: float, is_open: bool) -> Floats:
        move = spot - self._command
        length = float(np.linalg.norm(move))
        move = move * min(1.0, 0.95 * ur5e.MAX_STEP_M / max(1e-9, length))
        return np.array([*move, 0.0, 0.0, np.clip(turn, -TURN_RAD, TURN_RAD), 1.0 if is_open else 0.0])

    def _turn_to(self, yaw: float) -> float:
        """The turn of the commanded tool to a yaw or the opposite one [rad], which are the same to the fingers."""
        now = self.view.tool_yaw()
        turn = float((yaw - now + np.pi / 2) % np.pi - np.pi / 2)
        return turn if abs(now + turn) < FARTHEST_YAW else turn - float(np.copysign(np.pi, turn))
