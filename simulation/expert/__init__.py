"""The scripted expert of the WidowX: a reference policy, and the teacher of others. It reads the simulator's state, and
no picture.

It is stateless but for the beginning of a turn that its goal remembers: the action depends on the present state, so
that it can label any state, recover from any slip, and follow an instruction that changes midway.
"""

from __future__ import annotations

from simulation import drawer_skills
from simulation.contracts import Actor, Floats, Observation
from simulation.environment import Environment
from simulation.expert.grasps import CUBES, cube_yaw, holds, turn_to
from simulation.expert.hand import Planner, command_yaw
from simulation.expert.working import due_part, next_action
from simulation.franka_expert import FrankaExpert
from simulation.goal_actor import GoalActor
from simulation.goals import Goal
from simulation.panda_expert import PandaExpert
from simulation.ur5e_expert import Ur5eExpert
from simulation.worlds import franka, panda, ur5e, widowx

__all__ = [
    "CUBES",
    "HoldStill",
    "ScriptedExpert",
    "act",
    "command_yaw",
    "cube_yaw",
    "due",
    "grasp_yaw_error",
    "holds",
    "knows",
    "scripted_expert",
]


class ScriptedExpert(GoalActor):
    """For free text and unknown goals it holds still."""

    def infer(self, observation: Observation) -> Floats:
        return act(self._environment, self._goal)[None, :]


class HoldStill:
    """The other reference policy, which does nothing."""

    def __init__(self, environment: Environment) -> None:
        self._controller = environment.controller

    def reset(self, instruction: str, seed: int) -> None:
        pass

    def infer(self, observation: Observation) -> Floats:
        return self._controller.still()[None, :]

    def close(self) -> None:
        pass


EXPERTS: dict[str, type[GoalActor]] = {
    widowx.id: ScriptedExpert,
    panda.id: PandaExpert,
    ur5e.id: Ur5eExpert,
    franka.id: FrankaExpert,
}
"""Robot -> its expert."""


def knows(robot_id: str) -> bool:
    """Whether there is an expert for the robot."""
    return robot_id in EXPERTS


def scripted_expert(environment: Environment) -> Actor:
    """The expert of the environment's robot, which must be one that `knows` names."""
    return EXPERTS[environment.world.robot_id](environment)


def act(environment: Environment, goal: Goal | None) -> Floats:
    """The expert's action (7,) for the present state, of a goal that has begun."""
    planner = Planner(environment)
    if drawer_skills.can_do(environment.world):
        return drawer_skills.act(planner, goal, command_yaw(planner.quaternion))
    action = next_action(planner, goal) if goal else None
    return planner.hold_still() if action is None else action


def due(environment: Environment, goal: Goal) -> Goal | None:
    """The part of a goal that has begun at which `act` works now; None once all are reached."""
    if drawer_skills.can_do(environment.world):
        return drawer_skills.next_part(goal, environment)
    return due_part(Planner(environment), goal)


def grasp_yaw_error(environment: Environment, name: str) -> float:
    """The turn of the commanded tool about z to a square grasp of the object [rad], the shorter way round."""
    return turn_to(environment, name, command_yaw(environment.controller.memory[widowx.QUATERNION]))
