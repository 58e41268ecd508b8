"""Success and progress, judged by positions, speeds and contacts after a control step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import mujoco
import numpy as np

from simulation import catalogue
from simulation.catalogue_rows import CatalogueError
from simulation.contracts import Floats
from simulation.worlds import World
from simulation.worlds.table import REST_HEIGHT

REST_SPEED = 0.05  # an object slower than this [m/s] rests
PLATE_TOP = 0.006  # [m]
HEIGHT_TOLERANCE = 0.008  # of a resting object's centre from where it should be [m]; a tilted cube exceeds it
REACH_SCALE = 0.15  # distance [m] from which an approach counts as progress


@dataclass(frozen=True)
class GoalProgress:
    """`success` is that of this instant, which the runner requires to be held. `progress` is 0..1."""

    success: bool
    progress: float


class Goal(Protocol):
    def judge(self, view: View) -> GoalProgress: ...


class View:
    """What goals are judged by. `data` needs current kinematics."""

    def __init__(self, world: World, data: mujoco.MjData) -> None:
        model = world.model
        self._model, self._data = model, data
        self._tool = model.site(world.tool_site).id
        self._pads = {model.geom(name).id for name in world.pads}
        self._bodies = {name: model.body(name).id for name in (*world.objects, *world.targets)}
        self._dofs = {name: int(model.body(name).dofadr[0]) for name in world.objects}
        self._geoms = {name: int(model.body(name).geomadr[0]) for name in (*world.objects, *world.targets)}

    def position(self, name: str) -> Floats:
        """(3,) [m, base frame]; a live view."""
        return cast(Floats, self._data.xpos[self._bodies[name]])

    def rotation(self, name: str) -> Floats:
        return cast(Floats, self._data.xmat[self._bodies[name]].reshape(3, 3))

    def tool(self) -> Floats:
        return cast(Floats, self._data.site_xpos[self._tool])

    def tool_rotation(self) -> Floats:
        return cast(Floats, self._data.site_xmat[self._tool].reshape(3, 3))

    def tool_yaw(self) -> float:
        """[rad], of a tool that points about downwards."""
        rotation = self.tool_rotation()
        return float(np.arctan2(-rotation[0, 1], rotation[1, 1]))

    def resting(self, name: str) -> bool:
        first = self._dofs[name]
        return float(np.abs(self._data.qvel[first : first + 3]).max()) < REST_SPEED

    def pads_touching(self, name: str) -> int:
        """How many of the two pads touch the object: 0, 1 or 2."""
        return len(self._neighbours(name) & self._pads)

    def touching(self, name: str, other: str) -> bool:
        return self._geoms[other] in self._neighbours(name)

    def supported(self, name: str) -> bool:
        """Whether the object touches anything but the pads."""
        return bool(self._neighbours(name) - self._pads)

    def _neighbours(self, name: str) -> set[int]:
        pairs = self._data.contact.geom
        mine = self._geoms[name]
        hits = pairs[(pairs == mine).any(axis=1)]
        return set(hits.ravel().tolist()) - {mine}


@dataclass(frozen=True)
class Lifted:
    """Both pads hold the object at least `height_m` above its height on the table."""

    object: str
    height_m: float

    def judge(self, view: View) -> GoalProgress:
        height = float(view.position(self.object)[2]) - REST_HEIGHT[self.object]
        held = view.pads_touching(self.object) == 2
        progress = 0.3 * _reach(view, self.object)
        if held:
            progress = 0.4 + 0.6 * min(1.0, max(0.0, height / self.height_m))
        return GoalProgress(held and height >= self.height_m, progress)


@dataclass(frozen=True)
class OnPlate:
    """The object rests on the plate, within `distance_m` of its centre, and the gripper has let go."""

    object: str
    target: str
    distance_m: float

    def judge(self, view: View) -> GoalProgress:
        return _set_down(view, self.object, self.target, self.distance_m, PLATE_TOP + REST_HEIGHT[self.object])


@dataclass(frozen=True)
class Stacked:
    """The object rests on the base object, within `distance_m` of its centre, and the gripper has let go."""

    object: str
    base: str
    distance_m: float

    def judge(self, view: View) -> GoalProgress:
        wanted = float(view.position(self.base)[2]) + REST_HEIGHT[self.base] + REST_HEIGHT[self.object]
        return _set_down(view, self.object, self.base, self.distance_m, wanted)


def goal_for(instruction: str) -> Goal | None:
    """The goal of a known wording, or None for free text, which cannot be judged."""
    found = catalogue.task_for(instruction)
    return goal_of(*found) if found else None


def goal_of(task_id: str, slots: Mapping[str, str]) -> Goal:
    criteria: Mapping[str, Any] = catalogue.task(task_id).success_criteria
    if criteria["goal"] == "lifted":
        return Lifted(slots["object"], criteria["height_m"])
    if criteria["goal"] == "on_plate":
        return OnPlate(slots["object"], slots["target"], criteria["distance_m"])
    if criteria["goal"] == "stacked":
        return Stacked(slots["object"], slots["base"], criteria["distance_m"])
    raise CatalogueError(f"unknown goal {criteria['goal']!r}; known: lifted, on_plate, stacked")


def _set_down(view: View, name: str, target: str, distance_m: float, height_m: float) -> GoalProgress:
    """Progress: 0.2 for reaching the object, 0.2 for holding it, 0.4 on the way to the target, 0.2 for letting go."""
    place = view.position(name)
    distance = float(np.hypot(*(place[:2] - view.position(target)[:2])))
    over = distance <= distance_m and place[2] > height_m - HEIGHT_TOLERANCE
    pads = view.pads_touching(name)
    down = over and abs(float(place[2]) - height_m) <= HEIGHT_TOLERANCE and view.touching(name, target)
    if down and pads == 0 and view.resting(name):
        return GoalProgress(True, 1.0)
    if over:
        return GoalProgress(False, 0.8)
    if pads == 2:
        return GoalProgress(False, 0.4 + 0.4 * max(0.0, 1.0 - distance / 0.3))
    return GoalProgress(False, 0.2 * _reach(view, name))


def _reach(view: View, name: str) -> float:
    """1 when the tool is at the object, falling to 0 at REACH_SCALE."""
    return max(0.0, 1.0 - float(np.linalg.norm(view.tool() - view.position(name))) / REACH_SCALE)
