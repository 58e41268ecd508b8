"""The scripted expert of the WidowX: a reference policy, and the teacher of others. It reads the simulator's state, and
no picture.

It is stateless: the action depends on the present state alone, so that it can label any state, recover from any slip,
and follow an instruction that changes midway. It plans on the commanded tool pose, some millimetres ahead of the arm.
"""

from __future__ import annotations

import mujoco
import numpy as np

from simulation import drawer_skills
from simulation.contracts import Floats, Observation
from simulation.environment import Environment
from simulation.goals import Goal, Lifted, Placed, Stacked, goal_for
from simulation.worlds import widowx
from simulation.worlds.table import REST_HEIGHT

OPEN, CLOSED = 1.0, 0.0
MAX_MOVE = 0.045  # longest move per step [m]
MAX_TURN = 0.35  # longest turn per step [rad]
GRASP_OFFSET = 0.002  # the tool grasps this much over the object's centre [m]
FUNNEL_SLOPE, FUNNEL_TOP = 3.0, 0.07  # height over the grasp grows with the sideways error [-, m]
YAW_FREE, YAW_SLOPE = 0.09, 0.16  # ... and with the yaw error [rad, m/rad]: fingers wait above until they fit
LOOK_AHEAD = 0.014  # of the sideways error that this step will remove anyway [m]
AT_GRASP_XY, AT_GRASP_Z, AT_GRASP_YAW = 0.007, 0.007, 0.14
TIE_BREAK = np.deg2rad(3.0)  # of two equally near grasps, the one to the left is taken
DIAGONAL_GAP = 0.041  # pads further apart than this hold a 33 mm cube by its diagonal [m]
EMPTY_GAP = 0.02  # pads closer than this hold none of the objects [m]
PAD_INSET = 0.009  # from the finger's joint value to the inner face of its pad [m]
RELEASE_HEIGHT = 0.005
LIFT_HEIGHT = 0.09
CARRY_CLEARANCE = 0.05
PLATE_TOP = 0.006  # [m]
CUBES = ("red_cube", "yellow_cube", "purple_cube")


class ScriptedExpert:
    """An actor (contracts.Actor) of one environment. For free text and unknown goals it holds still."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._goal: Goal | None = None

    def reset(self, instruction: str, seed: int) -> None:
        self._goal = goal_for(instruction, self._environment.world.scene_id)
        if self._goal:
            self._goal.begin(self._environment.view)

    def infer(self, observation: Observation) -> Floats:
        return act(self._environment, self._goal)[None, :]

    def close(self) -> None:
        pass


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


def knows(robot_id: str) -> bool:
    """Whether the expert can move the robot."""
    return robot_id == widowx.id


def act(environment: Environment, goal: Goal | None) -> Floats:
    """The expert's action (7,) for the present state."""
    planner = _Planner(environment)
    if drawer_skills.can_do(environment.world.scene_id):
        return drawer_skills.act(planner, goal, command_yaw(planner.quaternion))
    if isinstance(goal, Lifted):
        return planner.pick(goal.thing)
    if isinstance(goal, Placed):
        return planner.put(goal.thing, goal.support, PLATE_TOP, 0.02)
    if isinstance(goal, Stacked):
        top = float(environment.view.position(goal.base)[2]) + REST_HEIGHT[goal.base]
        return planner.put(goal.thing, goal.base, top, 0.005)
    return planner.hold_still()


def holds(environment: Environment, name: str) -> bool:
    """Whether both pads hold the object near the tool point."""
    view = environment.view
    return view.pads_touching(name) == 2 and float(np.linalg.norm(view.position(name) - view.tool())) < 0.025


def grasp_yaw_error(environment: Environment, name: str) -> float:
    """The turn of the commanded tool about z to a square grasp of the object [rad], the shorter way round."""
    rotation = environment.view.rotation(name)
    yaw = command_yaw(environment.controller.memory[widowx.QUATERNION])
    if name in CUBES:
        return _wrapped(cube_yaw(rotation) - yaw, np.pi / 2)
    if name == "blue_cylinder" and abs(rotation[2, 2]) < 0.7:
        return _wrapped(np.arctan2(rotation[1, 2], rotation[0, 2]) - yaw, np.pi)
    return 0.0


def cube_yaw(rotation: Floats) -> float:
    """Yaw [rad] of the most level axis of a cube's rotation (3, 3)."""
    axis = rotation[:, int(np.argmin(np.abs(rotation[2])))]
    return float(np.arctan2(axis[1], axis[0]))


def command_yaw(quaternion: Floats) -> float:
    """Yaw [rad] of a commanded tool pose that points about downwards."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return float(np.arctan2(-matrix[1], matrix[4]))


class _Planner:
    """One decision. Positions in metres, base frame; `command` is the pose that actions add to."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.view = environment.view
        memory = environment.controller.memory
        self.command = memory[widowx.POSITION]
        self.quaternion = memory[widowx.QUATERNION]
        self.gap = 2 * (widowx.finger(environment.model, environment.data) - PAD_INSET)

    def pick(self, name: str) -> Floats:
        if not self._has(name):
            return self._fetch(name)
        height = REST_HEIGHT[name] + LIFT_HEIGHT
        return self.go(np.array([self.command[0], self.command[1], height]), 0.0, CLOSED)

    def put(self, name: str, target: str, top: float, tolerance: float) -> Floats:
        """Carry the object over the target and set it down on `top` [m] within `tolerance` [m] of the middle."""
        place, middle = self.view.position(name), self.view.position(target)
        rest = top + REST_HEIGHT[name]
        error = float(np.hypot(*(place[:2] - middle[:2])))
        low = place[2] < rest + RELEASE_HEIGHT
        if self._set_down(name, target, error, tolerance, low):
            return self.go(np.array([self.command[0], self.command[1], place[2] + 0.08]), 0.0, OPEN)
        if not self._has(name):
            return self._fetch(name)
        if low and error < tolerance:
            return self.hold_still()
        return self._carry(place, middle, rest, error, tolerance)

    def hold_still(self) -> Floats:
        return self.go(self.command, 0.0, OPEN)

    def _set_down(self, name: str, target: str, error: float, tolerance: float, low: bool) -> bool:
        loose = self.view.pads_touching(name) < 2
        return bool(loose and low and error < max(0.015, 2 * tolerance) and self.view.touching(name, target))

    def _carry(self, place: Floats, middle: Floats, rest: float, error: float, tolerance: float) -> Floats:
        grip = self.view.tool() - place
        ahead = max(0.0, error - LOOK_AHEAD) if tolerance > 0.01 else error
        lift = min(CARRY_CLEARANCE, FUNNEL_SLOPE * max(0.0, ahead - tolerance))
        if error > 0.06:
            lift = max(lift, 0.07 - rest)
        goal = np.array([middle[0], middle[1], rest + 0.002 + lift]) + grip
        return self.go(goal, 0.0, CLOSED)

    def _has(self, name: str) -> bool:
        if not holds(self.environment, name):
            return False
        by_diagonal = name in CUBES and self.gap > DIAGONAL_GAP
        return not (by_diagonal and self.view.position(name)[2] < REST_HEIGHT[name] + 0.02)

    def _fetch(self, name: str) -> Floats:
        for other in self.environment.world.objects:
            if other != name and holds(self.environment, other):
                return self._put_away(other)
        place = self.view.position(name)
        turn = grasp_yaw_error(self.environment, name)
        grasp = np.array([place[0], place[1], max(widowx.WORKSPACE[0, 2], place[2] + GRASP_OFFSET)])
        error = float(np.hypot(*(grasp[:2] - self.command[:2])))
        rise = FUNNEL_SLOPE * max(0.0, error - LOOK_AHEAD)
        rise = max(rise, YAW_SLOPE * max(0.0, abs(turn) - MAX_TURN / 3 - YAW_FREE))
        goal = grasp + np.array([0.0, 0.0, min(FUNNEL_TOP, rise)])
        return self.go(goal, turn, CLOSED if self._at(grasp, turn) else OPEN)

    def _at(self, grasp: Floats, turn: float) -> bool:
        tool = self.view.tool()
        touching = any(self.view.pads_touching(name) for name in self.environment.world.objects)
        return bool(
            np.hypot(*(grasp[:2] - tool[:2])) < AT_GRASP_XY
            and abs(grasp[2] - tool[2]) < AT_GRASP_Z
            and abs(turn) < AT_GRASP_YAW
            and (touching or self.gap >= EMPTY_GAP)
        )

    def _put_away(self, name: str) -> Floats:
        """Lower the held object onto what is below, then let go of it."""
        place = self.view.position(name)
        landed = place[2] < REST_HEIGHT[name] + 0.012 or self.view.supported(name)
        if landed:
            return self.hold_still()
        return self.go(self.command - np.array([0.0, 0.0, place[2] - REST_HEIGHT[name]]), 0.0, CLOSED)

    def go(self, position: Floats, turn: float, gripper: float) -> Floats:
        """Move towards the position, upright, turned by `turn` about z; sideways only as far as the height allows."""
        move = position - self.command
        if move[2] > 0.015:
            move[:2] *= max(0.0, 1.0 - (move[2] - 0.015) / 0.035)
        length = float(np.linalg.norm(move))
        if length > MAX_MOVE:
            move *= MAX_MOVE / length
        action = np.empty(len(widowx.ACTION))
        action[:3] = move
        action[3:6] = self._upright(np.clip(turn, -MAX_TURN, MAX_TURN))
        action[6] = gripper
        return action

    def _upright(self, turn: float) -> Floats:
        """roll, pitch, yaw [rad] that make the commanded tool point down and turn it about z."""
        yaw = command_yaw(self.quaternion) + turn
        back, delta, matrix = np.empty(4), np.empty(4), np.empty(9)
        mujoco.mju_negQuat(back, self.quaternion)
        mujoco.mju_mulQuat(delta, widowx.pointing_down(yaw), back)
        mujoco.mju_quat2Mat(matrix, delta)
        roll, pitch, spin = (
            np.arctan2(matrix[7], matrix[8]),
            np.arcsin(np.clip(-matrix[6], -1.0, 1.0)),
            np.arctan2(matrix[3], matrix[0]),
        )
        turns: Floats = np.clip(np.array([roll, pitch, spin]), -MAX_TURN, MAX_TURN)
        return turns


def _wrapped(angle: float, period: float) -> float:
    """The angle within one period around zero, which ends a little right of its half, so that a tie turns left."""
    low = -period / 2 + TIE_BREAK
    return float((angle - low) % period + low)
