"""One decision of the hand: reach, grasp, carry, set down. It plans on the commanded tool pose, some millimetres ahead
of the arm."""

from __future__ import annotations

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.expert.grasps import Grasp, by_diagonal, grasp_of, holds
from simulation.expert.obstacles import height_in_the_way
from simulation.worlds import widowx

OPEN, CLOSED = 1.0, 0.0
MAX_MOVE = 0.045  # longest move per step [m]
MAX_TURN = 0.35  # longest turn per step [rad]
LONG_TURN = 0.55  # turns longer than this keep their axis; of shorter ones each angle is cut by itself [rad]
FUNNEL_SLOPE, FUNNEL_TOP = 3.0, 0.07  # height over the grasp grows with the sideways error [-, m]
YAW_FREE, YAW_SLOPE = 0.09, 0.16  # ... and with the yaw error [rad, m/rad]: fingers wait above until they fit
LOOK_AHEAD = 0.014  # of the sideways error that this step will remove anyway [m]
AT_GRASP_XY, AT_GRASP_Z, AT_GRASP_YAW = 0.007, 0.007, 0.14
EMPTY_GAP = 0.02  # pads closer than this hold none of the objects, unless they touch one [m]
PAD_INSET = 0.009  # from the finger's joint value to the inner face of its pad [m]
RELEASE_HEIGHT = 0.005
LIFT_HEIGHT = 0.09
CARRY_CLEARANCE = 0.05
TURN_LIFT = 0.02  # over what it is set down on, of a thing that the hand turns [m]
FARTHEST_YAW = 2.2  # of the hand, so that no wrist comes to its end [rad]
PASSING = 0.012  # gap under what is carried over something tall [m]


def command_yaw(quaternion: Floats) -> float:
    """Yaw [rad] of a commanded tool pose that points about downwards."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return float(np.arctan2(-matrix[1], matrix[4]))


def command_tilt(quaternion: Floats) -> float:
    """How far a commanded tool leans from straight down towards its yaw [rad]."""
    matrix, yaw = np.empty(9), command_yaw(quaternion)
    mujoco.mju_quat2Mat(matrix, quaternion)
    ahead = float(matrix[0] * np.cos(yaw) + matrix[3] * np.sin(yaw))
    return float(np.arctan2(ahead, -matrix[6]))


def _tilted(yaw: float, tilt: float) -> Floats:
    """Quaternion wxyz (4,) of a tool that points down but for `tilt` towards its yaw [rad]."""
    down = widowx.pointing_down(yaw)
    if tilt == 0.0:
        return down
    axis, quaternion = np.array([np.sin(yaw), -np.cos(yaw), 0.0]) * np.sin(tilt / 2), np.empty(4)
    mujoco.mju_mulQuat(quaternion, np.array([np.cos(tilt / 2), *axis]), down)
    return quaternion


def _shorten(turn: Floats) -> None:
    """Cut a quaternion wxyz (4,) of a turn that is far longer than a step down to a step, about the same axis."""
    vector = np.empty(3)
    mujoco.mju_quat2Vel(vector, turn, 1.0)
    angle = float(np.linalg.norm(vector))
    if angle > LONG_TURN:
        mujoco.mju_axisAngle2Quat(turn, vector / angle, MAX_TURN)


class Planner:
    """One decision. Positions in metres, base frame; `command` is the pose that actions add to."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self.view = environment.view
        memory = environment.controller.memory
        self.command = memory[widowx.POSITION]
        self.quaternion = memory[widowx.QUATERNION]
        self.gap = 2 * (widowx.finger(environment.model, environment.data) - PAD_INSET)

    def pick(self, name: str, height: float) -> Floats:
        """Hold the thing this high over its place on the table [m]."""
        if not self.has(name):
            return self.fetch(name)
        height = self.view.rest_height(name) + max(LIFT_HEIGHT, height + PASSING)
        return self.go(np.array([self.command[0], self.command[1], height]), 0.0, CLOSED)

    def put(
        self, name: str, middle: Floats, top: float, tolerance: float, on: str | None = None, yaw: float | None = None
    ) -> Floats:
        """Carry the thing over a place (2,) and set it down on `top` [m] within `tolerance` [m] of the middle, with the
        hand at this yaw. `on`: what it then touches; None is anything.
        """
        place = self.view.position(name)
        rest = top + self.view.rest_height(name)
        error = float(np.hypot(*(place[:2] - middle[:2])))
        low = place[2] < rest + RELEASE_HEIGHT
        if self._set_down(name, on, error, tolerance, low):
            return self.leave(float(place[2]))
        if not self.has(name):
            return self.fetch(name)
        turn = self.turn_to(yaw)
        if low and error < tolerance and abs(turn) < AT_GRASP_YAW:
            return self.hold_still()
        return self._carry(name, middle, rest, error, tolerance, turn)

    def drop(self, name: str, middle: Floats, height: float, tolerance: float) -> Floats:
        """Carry the thing within `tolerance` [m] of a place (2,), let its underside down to a height [m], and open the
        hand there.
        """
        if not self.has(name):
            return self.fetch(name)
        place = self.view.position(name)
        rest = height + self.view.rest_height(name)
        error = float(np.hypot(*(place[:2] - middle[:2])))
        if error < tolerance and place[2] < rest + RELEASE_HEIGHT:
            return self.hold_still()
        return self._carry(name, middle, rest, error, tolerance, 0.0)

    def slide(self, name: str, way: Floats, most: float = MAX_MOVE) -> Floats:
        """Move the thing along the table by a way (2,) [m], in the hand, by at most so much in a step."""
        if not self.has(name):
            return self.fetch(name)
        way = way * min(1.0, most / max(1e-9, float(np.hypot(*way))))
        lift = self.view.rest_height(name) - float(self.view.position(name)[2])
        return self.go(self.command + np.array([way[0], way[1], lift]), 0.0, CLOSED)

    def leave(self, height: float) -> Floats:
        """Open the hand and rise from a thing whose centre is at this height [m]."""
        return self.go(np.array([self.command[0], self.command[1], height + 0.08]), 0.0, OPEN)

    def hold_still(self) -> Floats:
        return self.go(self.command, 0.0, OPEN)

    def open(self) -> Floats:
        """Open the hand in the pose in which it is, however it is tilted."""
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, OPEN])

    def rise(self) -> Floats:
        """Go straight up with an open hand, however it is tilted."""
        return np.array([0.0, 0.0, MAX_MOVE, 0.0, 0.0, 0.0, OPEN])

    def is_around(self, place: Floats) -> bool:
        """Whether the fingers are beside a place (3,) [m, base frame]."""
        return bool(np.linalg.norm(self.view.tool() - place) < 0.05)

    def turn_to(self, yaw: float | None) -> float:
        """The turn of the commanded tool to a yaw or the opposite one [rad], which are the same to the fingers."""
        if yaw is None:
            return 0.0
        now = command_yaw(self.quaternion)
        turn = float((yaw - now + np.pi / 2) % np.pi - np.pi / 2)
        return turn if abs(now + turn) < FARTHEST_YAW else turn - np.copysign(np.pi, turn)

    def _set_down(self, name: str, on: str | None, error: float, tolerance: float, low: bool) -> bool:
        loose = self.view.pads_touching(name) < 2
        if not (loose and low and error < max(0.015, 2 * tolerance)):
            return False
        return self.view.supported(name) if on is None else self.view.touching(name, on)

    def _carry(self, name: str, middle: Floats, rest: float, error: float, tolerance: float, turn: float) -> Floats:
        place = self.view.position(name)
        grip = self.view.tool() - place
        ahead = max(0.0, error - LOOK_AHEAD) if tolerance > 0.01 else error
        slope = FUNNEL_SLOPE * max(0.0, ahead - tolerance)
        lift = min(CARRY_CLEARANCE, slope)
        if error > 0.06:
            lift = max(lift, 0.07 - rest)
        lift = max(lift, min(TURN_LIFT, YAW_SLOPE * max(0.0, abs(turn) - AT_GRASP_YAW)))
        if tall := height_in_the_way(self.environment, name, middle[:2]):
            lift = max(lift, min(slope, tall + PASSING - (rest - self.view.rest_height(name))))
        goal = np.array([middle[0], middle[1], rest + 0.002 + lift]) + grip
        return self.go(goal, turn, CLOSED)

    def has(self, name: str) -> bool:
        """Whether the thing is held as it should be."""
        if not holds(self.environment, name):
            return False
        crooked = by_diagonal(self.environment, name, self.gap)
        return not (crooked and self.view.position(name)[2] < self.view.rest_height(name) + 0.02)

    def fetch(self, name: str) -> Floats:
        """Come from above, and close the fingers around the thing; whatever else is held is put away first."""
        for other in self.environment.world.objects:
            if other != name and holds(self.environment, other):
                return self._put_away(other)
        found = grasp_of(self.environment, name, command_yaw(self.quaternion))
        error = float(np.hypot(*(found.place[:2] - self.command[:2])))
        rise = FUNNEL_SLOPE * max(0.0, error - LOOK_AHEAD)
        rise = max(rise, YAW_SLOPE * max(0.0, abs(found.turn) - MAX_TURN / 3 - YAW_FREE))
        goal = found.place + np.array([0.0, 0.0, min(FUNNEL_TOP, rise)])
        return self.go(goal, found.turn, CLOSED if self._at(found) else OPEN)

    def _at(self, grasp: Grasp) -> bool:
        tool = self.view.tool()
        touching = any(self.view.pads_touching(name) for name in self.environment.world.objects)
        return bool(
            np.hypot(*(grasp.place[:2] - tool[:2])) < AT_GRASP_XY
            and abs(grasp.place[2] - tool[2]) < AT_GRASP_Z
            and abs(grasp.turn) < AT_GRASP_YAW
            and (touching or self.gap >= EMPTY_GAP)
        )

    def _put_away(self, name: str) -> Floats:
        """Lower the held object onto what is below, then let go of it."""
        place, rest = self.view.position(name), self.view.rest_height(name)
        if place[2] < rest + 0.012 or self.view.supported(name):
            return self.hold_still()
        return self.go(self.command - np.array([0.0, 0.0, place[2] - rest]), 0.0, CLOSED)

    def go(self, position: Floats, turn: float, gripper: float, tilt: float = 0.0) -> Floats:
        """Move towards the position, turned by `turn` about z, and tilted from straight down to forward by `tilt`
        [rad]; sideways only as far as the height allows.
        """
        move = position - self.command
        if move[2] > 0.015:
            move[:2] *= max(0.0, 1.0 - (move[2] - 0.015) / 0.035)
        length = float(np.linalg.norm(move))
        if length > MAX_MOVE:
            move *= MAX_MOVE / length
        action = np.empty(len(widowx.ACTION))
        action[:3] = move
        action[3:6] = self._rotation(np.clip(turn, -MAX_TURN, MAX_TURN), tilt)
        action[6] = gripper
        return action

    def _rotation(self, turn: float, tilt: float) -> Floats:
        """roll, pitch, yaw [rad] that make the commanded tool point down but for `tilt`, and turn it about z."""
        yaw = command_yaw(self.quaternion) + turn
        back, delta, matrix = np.empty(4), np.empty(4), np.empty(9)
        mujoco.mju_negQuat(back, self.quaternion)
        mujoco.mju_mulQuat(delta, _tilted(yaw, tilt), back)
        _shorten(delta)
        mujoco.mju_quat2Mat(matrix, delta)
        roll, pitch, spin = (
            np.arctan2(matrix[7], matrix[8]),
            np.arcsin(np.clip(-matrix[6], -1.0, 1.0)),
            np.arctan2(matrix[3], matrix[0]),
        )
        turns: Floats = np.clip(np.array([roll, pitch, spin]), -MAX_TURN, MAX_TURN)
        return turns
