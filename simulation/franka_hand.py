"""The hand of the Franka in its kitchen, in the present state: how it goes from place to place, and how it leaves what
it was around.

The hand points ahead throughout; `yaw` turns it about the vertical and `roll` about its own axis. It comes to a thing
from before it (along x), and from place to place it goes at HEIGHT.
"""

from __future__ import annotations

from typing import cast

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.control.tool_pose import ToolPose, shortened
from simulation.environment import Environment
from simulation.worlds import franka

OPEN, CLOSED = 1.0, 0.0  # of the fingers
CLOSING, IS_OPEN = 0.02, 0.9  # speed of fingers that are not closed yet [m/s], and the least opening of open ones
HEIGHT, CLEAR_X = 0.40, 0.40  # of the tool on its way from place to place: its height, and how far ahead at most [m]
NEAREST_X, LOW_Z = 0.34, (0.24, 0.06)  # how near to its base the arm reaches, but for low down [m]
CLOSE_X = 0.10, 0.05  # before the base, where the arm cannot rise [m]
FUNNEL_M, FAR_M = 0.03, 0.06  # off a way; aside of a place
STEP_M, TURN_RAD = 0.95 * franka.MAX_STEP_M, 0.35  # longest of one control step
AROUND_M, LEAVING_M = (0.03, 0.05), 0.6 * STEP_M  # from a handle that the hand leaves straight back; of a step there
HANDLES = {"microwave": 0.0, "right_hinge_cabinet": -0.09, "kettle": 0.0}
"""What the hand has its fingers around -> how far above the middle of its handle [m]."""
KETTLE, OVER_M = "kettle", 0.15  # how high the hand stays over its handle while it is not before it [m]
KNOBS = ("bottom_left_knob", "bottom_right_knob", "top_left_knob", "top_right_knob")


class Hand:
    def __init__(self, environment: Environment) -> None:
        self.view, self.data, self.model = environment.view, environment.data, environment.model
        controller = cast(ToolPose, environment.controller)
        self._command = controller.memory[controller.position]
        self._commanded_turn = controller.memory[controller.quaternion]
        self.tool, self._now = self.view.tool(), np.empty(4)
        mujoco.mju_mat2Quat(self._now, self.view.tool_rotation().ravel())

    def handle(self, name: str) -> Floats:
        """Where to take hold of a thing, or where to push it (3,) [m]."""
        site = "kettle_site" if name == KETTLE else f"{name}_handle"
        place: Floats = self.data.site(site).xpos + np.array([0.0, 0.0, HANDLES.get(name, 0.0)])
        return place

    def is_open(self) -> bool:
        return float(franka.proprioception(self.model, self.data)[7]) > IS_OPEN

    def is_firm(self) -> bool:
        """Whether the fingers have stopped."""
        joints = (self.model.joint(franka.PREFIX + name) for name in franka.FINGER_JOINTS)
        return max(abs(float(self.data.qvel[joint.dofadr[0]])) for joint in joints) < CLOSING

    def off(self, facing: Floats) -> float:
        """The angle of the hand from given axes [rad]."""
        return float(np.linalg.norm(_turn(self._now, facing)))

    def travel(self, spot: Floats, facing: Floats, grip: float, name: str = "") -> Floats:
        """On the way to a spot, for the sake of a thing: away from other things first, then back to before all that
        stands there, then to the spot's height and aside, and ahead last.
        """
        if self._is_around_another(name):
            return self.go(self._command, self.view.tool_rotation(), OPEN)
        leaving = max((self._nearness(other) for other in HANDLES if other != name), default=0.0)
        far = 1.0 - share_of(abs(float(spot[1] - self.tool[1])), FAR_M, FAR_M)
        wanted = self._wanted(spot, far, name)
        back = share_of(float(self.tool[0]) - max(float(wanted[0]), CLEAR_X), FUNNEL_M, FUNNEL_M)
        level = share_of(abs(float(wanted[2] - self.tool[2])), 2 * FUNNEL_M, FUNNEL_M) if far > 0.0 else 1.0
        way = np.clip(wanted - self._command, -STEP_M, STEP_M)
        onwards = max(level, share_of(float(self.tool[0]), *CLOSE_X)) if way[0] > 0.0 else 1.0
        step = way * [onwards, back * level, back]
        turn = back * ((1.0 - far) * self._turn_to(facing) + far * self._turn_to(axes()))
        straight_back = -LEAVING_M * self.view.tool_rotation()[:, 2]
        step, turn = (1.0 - leaving) * step + leaving * straight_back, (1.0 - leaving) * turn
        return self.act(step, turn, OPEN if leaving > 0.0 else grip)

    def _is_around_another(self, name: str) -> bool:
        """Whether fingers that are not open touch a thing that they are to leave."""
        others = (other for other in (*HANDLES, *KNOBS) if other != name)
        return not self.is_open() and any(map(self.view.pads_touching, others))

    def _wanted(self, spot: Floats, far: float, name: str) -> Floats:
        """Where to go now on the way to a spot (3,) [m], with `far` 0..1 aside of it."""
        x = min(float(spot[0]), CLEAR_X) if far > 0.0 else float(spot[0])
        x += max(0.0, NEAREST_X - x) * (1.0 - share_of(float(self.tool[2]), *LOW_Z))
        over = OVER_M * (1.0 - share_of(float(self.tool[0] - x), FUNNEL_M, FUNNEL_M)) if name == KETTLE else 0.0
        z = float(spot[2]) + over
        return np.array([x, spot[1], z + far * (HEIGHT - z)])

    def _nearness(self, name: str) -> float:
        """Of the hand to a handle that it could be around: 1 there, 0 away from it."""
        return share_of(float(np.linalg.norm(self.tool - self.handle(name))), *AROUND_M)

    def go(self, spot: Floats, facing: Floats, grip: float) -> Floats:
        """Straight to a spot (3,) [m] with axes (3, 3)."""
        return self.act(spot - self._command, self._turn_to(facing), grip)

    def act(self, move: Floats, turn: Floats, grip: float) -> Floats:
        """The action (7,) of a move [m], as far as a step goes, a turn (3,) [rad] and an opening."""
        return np.array([*shortened(move, STEP_M), *turn, grip])

    def _turn_to(self, facing: Floats) -> Floats:
        return shortened(_turn(self._commanded_turn, facing), TURN_RAD)


def share_of(value: float, first: float, width: float) -> float:
    """1 up to `first`, 0 from `first` + `width` on."""
    return float(np.clip(1.0 - (value - first) / width, 0.0, 1.0))


def axes(yaw: float = 0.0, roll: float = 0.0) -> Floats:
    """Of a tool that points ahead, rolled about that direction and then turned about the vertical [rad] (3, 3)."""
    cosine, sine = np.cos(roll), np.sin(roll)
    rolled = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
    return cast(Floats, about_z(yaw) @ rolled @ franka.AHEAD)


def about_z(angle: float) -> Floats:
    """The rotation matrix (3, 3) of an angle [rad] about the vertical."""
    cosine, sine = np.cos(angle), np.sin(angle)
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _turn(now: Floats, rotation: Floats) -> Floats:
    """The rotation vector [rad, base frame] (3,) from a quaternion to axes (3, 3)."""
    wanted, local, way = np.empty(4), np.empty(3), np.empty(3)
    mujoco.mju_mat2Quat(wanted, rotation.ravel())
    mujoco.mju_subQuat(local, wanted, now)
    mujoco.mju_rotVecQuat(way, local, now)
    return way
