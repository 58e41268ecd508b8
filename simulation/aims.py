"""What a part of a goal is about: the thing to take hold of, and where it is to go. Labels of demonstrations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.expert.grasps import cube_yaw, holds, is_square
from simulation.expert.hand import Planner
from simulation.expert.obstacles import is_ball, is_box
from simulation.expert.skills import next_between, next_trade, pushed_to, spot_beside, spot_outside
from simulation.goals import Goal
from simulation.goals.benchmark import OverRegion, WithinRegion
from simulation.goals.changes import Moved, Swapped
from simulation.goals.joins import Not, Stages
from simulation.goals.joints import Closed, Open, TurnedOn
from simulation.goals.places import Between, In, Inside, NextTo

OTHERS = ("support", "base", "container")  # the fields of goals that name what a thing comes onto or into
LIES = 0.7  # cosine of the lean from which on a round thing lies on its side


@dataclass(frozen=True)
class Aim:
    """`name`: of the thing, or of what a joint carries: drawer, door, knob or switch. `place` (3,) [m, base frame]: its
    own, or its handle's. `target` (3,): where it is to go; its own place where the goal names no other.
    """

    name: str
    has_joint: bool
    place: Floats
    target: Floats


def aim_of(environment: Environment, part: Goal) -> Aim:
    """Of a goal that is no join of others."""
    if isinstance(part, Open | Closed | TurnedOn):
        handle = environment.data.site(f"{part.joint}_handle").xpos.copy()
        return Aim(part.joint, True, handle, handle)
    told = part.goal if isinstance(part, Not) else part
    if isinstance(told, Swapped):
        name, place, _ = next_trade(Planner(environment), told)
        return Aim(name, False, environment.view.position(name), place)
    if isinstance(told, Between):
        name, spot = next_between(Planner(environment), told)
        here = environment.view.position(name)
        return Aim(name, False, here, np.array([*spot[:2], environment.view.rest_height(name)]) if spot else here)
    name = vars(told)["thing"]
    here = environment.view.position(name)
    return Aim(name, False, here, _target(environment, part, name))


def is_held(environment: Environment, aim: Aim) -> bool:
    """Whether both pads hold it."""
    return environment.view.pads_touching(aim.name) == 2 if aim.has_joint else holds(environment, aim.name)


def relative_yaw(environment: Environment, aim: Aim) -> tuple[float, float]:
    """sin na and cos na of a thing's yaw a against the tool's, where it looks the same every n-th of a turn: of a box,
    and of the axis of what lies on its side; (0, 0) for other shapes.
    """
    if aim.has_joint:
        return 0.0, 0.0
    rotation = environment.view.rotation(aim.name)
    if is_box(environment, aim.name):
        square = is_square(environment, aim.name)
        yaw = cube_yaw(rotation) if square else environment.view.yaw(aim.name)
    elif abs(rotation[2, 2]) < LIES and not is_ball(environment, aim.name):
        square, yaw = False, float(np.arctan2(rotation[1, 2], rotation[0, 2]))
    else:
        return 0.0, 0.0
    angle = (4 if square else 2) * (yaw - environment.view.tool_yaw())
    return float(np.sin(angle)), float(np.cos(angle))


def stage_of(environment: Environment, goal: Goal) -> int:
    """How many stages of a goal in stages are reached for good; 0 of any other goal."""
    return goal.reached(environment.view) if isinstance(goal, Stages) else 0


def _target(environment: Environment, goal: Goal, name: str) -> Floats:
    position = environment.view.position
    if isinstance(goal, Not):
        out = isinstance(goal.goal, In) and spot_outside(Planner(environment), goal.goal)
        return np.array([*out[:2], position(name)[2]]) if out else position(name)
    if isinstance(goal, Inside):
        place: Floats = environment.data.site(goal.region).xpos.copy()
        return place
    if isinstance(goal, OverRegion | WithinRegion):
        return environment.view.region(goal.region)[0].copy()
    if isinstance(goal, NextTo):
        x, y, _ = spot_beside(Planner(environment), goal)
        return np.array([x, y, position(goal.other)[2]])
    if isinstance(goal, Moved) and goal.direction != "any":
        return np.array([*pushed_to(environment.view, goal), position(name)[2]])
    return position(next((str(vars(goal)[field]) for field in OTHERS if field in vars(goal)), name))
