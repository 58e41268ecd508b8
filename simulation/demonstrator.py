"""One demonstration: the disturbed expert, labelled with what it would do, with varied camera and light."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from simulation import catalogue
from simulation.aims import aim_of, is_held, relative_yaw, stage_of
from simulation.cameras import cameras_of
from simulation.contracts import ACTION_DIM, POLICY_CAMERA, PROPRIOCEPTION_DIM, Floats, openings
from simulation.courses import SCATTER, Course
from simulation.disturbance import Disturbance, draw_variation, units_of
from simulation.driving import Driver, Driving
from simulation.environment import Environment
from simulation.goals import Goal, goal_of
from simulation.paraphrases import paraphrases
from simulation.teaching import TEACHERS
from simulation.variation import NO_VARIATION
from simulation.worlds.table import OBJECTS, TARGETS

CHUNK = 4
SPARE_STEPS = 10  # more than a turn has, for demonstrations that change their instruction
NOISE_LEVELS = (0.0, 1.0, 1.6)
OTHERS = 3  # further instructions per frame with the expert's action
SWITCH_SHARE = 0.2  # of the demonstrations change their instruction midway
THINGS = (*OBJECTS, *TARGETS)  # the order of scene_pixels and scene_points
Frames = dict[str, NDArray[Any]]
Fields = dict[str, tuple[tuple[int, ...], str, str]]
"""Name -> (shape of one frame, dtype, meaning)."""
FIELDS: Fields = {
    "images": ((POLICY_CAMERA.height, POLICY_CAMERA.width, 3), "uint8", "RGB of the course's camera"),
    "proprioception": (
        (PROPRIOCEPTION_DIM,),
        "float32",
        "what the robot feels; of most: tool x y z [m], sin and cos yaw, tilt x y, finger opening 0..1",
    ),
    "actions": ((CHUNK, ACTION_DIM), "float32", "clean actions for this and the next frames: m, rad, gripper 1 open"),
    "mask": ((CHUNK,), "bool", "which actions of the chunk exist and belong to the frame's instruction"),
    "instruction": ((), "int32", "index into texts"),
    "task": ((), "int32", "index into tasks"),
    "since": ((), "int32", "shown frames since the first one with this instruction"),
    "stage": ((), "int8", "how many stages before the last of the instruction's goal are reached; 0 without stages"),
    "pixels": ((3, 2), "float32", "x, y from the top left, 0..1, of named object, target (picks: object) and tool"),
    "points": ((2, 3), "float32", "x y z [m, base frame] of the named object and of the target (picks: the object)"),
    "held": ((), "bool", "both pads hold the named object"),
    "yaw": (
        (2,),
        "float32",
        "sin na, cos na of the yaw of a named box or lying thing against the tool's; n 4 if square, else 2; else 0 0",
    ),
    "episode": ((), "int64", "seed of the demonstration"),
}
SCENE_FIELDS: Fields = {
    "scene_pixels": ((len(THINGS), 2), "float32", "x, y from the top left, 0..1, of every thing, hidden or not"),
    "scene_points": ((len(THINGS), 3), "float32", "x y z [m, base frame] of the same"),
    "other_instructions": ((OTHERS,), "int32", "wordings of other tasks, drawn for each frame: indices into texts"),
    "other_tasks": ((OTHERS,), "int32", "what they ask for: indices into tasks"),
    "other_actions": ((OTHERS, ACTION_DIM), "float32", "the expert's action for each: m, rad, gripper 1 open"),
}


def fields_of(course: Course) -> Fields:
    return FIELDS | SCENE_FIELDS if course.whole_scene else FIELDS


def task_list(course: Course) -> list[tuple[str, dict[str, str]]]:
    """Every task of the course with its slots filled, in the order of the `task` index."""
    return [(task.id, dict(slots)) for task in course.tasks() for slots in task.slots]


def text_list(course: Course) -> list[str]:
    """Every wording, kept-out ones included (never used here), in the order of the `instruction` index; behind them the
    paraphrases of a course that has them.
    """
    wordings = (one.text for one in catalogue.instructions(of=course.tasks()))
    return list(dict.fromkeys(itertools.chain(wordings, *(_paraphrases(course, *task) for task in task_list(course)))))


def meaning_list(course: Course) -> list[list[int]]:
    """What each wording of `text_list` asks for: indices into `task_list`, one for each scene that knows it, and none
    for those that are kept out.
    """
    found: dict[str, list[int]] = {text: [] for text in text_list(course)}
    for index, (task_id, slots) in enumerate(task_list(course)):
        trained = (phrase.text for phrase in catalogue.phrasings(task_id, slots, train=True))
        for text in itertools.chain(trained, _paraphrases(course, task_id, slots)):
            found[text].append(index)
    return list(found.values())


def _paraphrases(course: Course, task_id: str, slots: dict[str, str]) -> list[str]:
    return paraphrases(task_id, slots) if course.paraphrased else []


@dataclass(frozen=True)
class Assignment:
    """One wording and its goal. Indices are those of the data set's lists."""

    text: str
    instruction: int
    task: int


class NothingToAsk(Exception):
    """A state in which there is nothing that the course asks for, or all of it is done."""


class Demonstrator:
    """Makes one demonstration per seed, and keeps the environments and the catalogue's lists."""

    def __init__(self, course: Course, driver: Driver | None = None) -> None:
        self.course, self.driver, self.teacher = course, driver, TEACHERS[course.robot_id]
        self.tasks = task_list(course)
        self._wordings = [catalogue.phrasings(task_id, slots, train=True) for task_id, slots in self.tasks]
        self._index = {text: index for index, text in enumerate(text_list(course))}
        self._fillings: dict[str, list[int]] = {}
        for index, (task_id, _) in enumerate(self.tasks):
            self._fillings.setdefault(task_id, []).append(index)
        self._scenes = {scene_id: _Scene(course, scene_id) for scene_id in course.scenes}

    def demonstrate(self, seed: int) -> Frames | None:
        """The frames of one demonstration, field name -> (n, ...), or None when it did not succeed in time, or when
        nothing was there to ask for.
        """
        try:
            return _Take(self, self._scenes[self._scene_of(seed)], seed).play()
        except NothingToAsk:
            return None

    def assign(self, scene: _Scene, rng: np.random.Generator) -> Assignment:
        """A task of which the scene has what it names, and which is not done already (in a course of one scene it may
        be: the expert then holds still). Raises NothingToAsk.
        """
        families = {name: self._askable(name, scene.environment) for name in scene.families}
        shares = np.array([scene.families[name] if families[name] else 0.0 for name in families])
        if not shares.any():
            raise NothingToAsk
        family = str(rng.choice(list(families), p=shares if shares.all() else shares / shares.sum()))
        index = int(rng.choice(families[family]))
        wordings = self._wordings[index]
        text = wordings[int(rng.integers(len(wordings)))].text
        return Assignment(text, self._index[text], index)

    def _askable(self, task_id: str, environment: Environment) -> list[int]:
        fillings = self._fillings[task_id]
        if self.course.whole_scene:
            return fillings
        out = {*environment.left_out()}
        there = [index for index in fillings if out.isdisjoint(self.tasks[index][1].values())]
        return [index for index in there if not environment.reaches_at_once(goal_of(*self.tasks[index]))]

    def _scene_of(self, seed: int) -> str:
        if len(self._scenes) == 1:
            return self.course.scenes[0]
        shares = [sum(tasks.values()) for tasks in self.course.shares.values()]
        return str(np.random.default_rng([seed, 4]).choice(self.course.scenes, p=np.array(shares) / sum(shares)))


class _Scene:
    """A scene of the course, which is built when it is first needed."""

    def __init__(self, course: Course, scene_id: str) -> None:
        self._robot_id, self._scene_id = course.robot_id, scene_id
        self.families = course.families(scene_id)

    @cached_property
    def environment(self) -> Environment:
        return Environment(self._robot_id, self._scene_id)


class _Take:
    """One demonstration in the making."""

    def __init__(self, maker: Demonstrator, scene: _Scene, seed: int) -> None:
        self.maker, self.scene, self.seed = maker, scene, seed
        self.teacher = maker.teacher
        self.environment = scene.environment
        self.rng = np.random.default_rng([seed, 1])
        variation = draw_variation(self.rng)
        self.environment.reset(seed, variation if maker.course.varied else NO_VARIATION)
        if self.environment.world.scene_id in maker.course.scattered:
            self._scatter()
        self.elsewhere = np.random.default_rng([seed, 3])  # its own, so that more labels change no demonstration
        self.space = self.environment.world.robot.ACTION.id
        level = NOISE_LEVELS[int(self.rng.integers(len(NOISE_LEVELS)))]
        self.disturb = Disturbance(self.rng, level, units_of(self.space))
        self.driving = self._driving()
        self._begin(0)
        self.switch_at = int(self.rng.integers(4, 16)) if self.rng.random() < SWITCH_SHARE else -1

    def play(self) -> Frames | None:
        frames: list[dict[str, Any]] = []
        driven: list[bool] = []
        step = held = 0
        while step < self.most_steps + (SPARE_STEPS if self.driving is None else self.most_steps):
            if step == self.switch_at:
                self._begin(step)
                held = 0
            action = self.teacher.act(self.environment, self.goal)
            frames.append(self._frame(action, step))
            chosen = self.driving() if self.driving else None
            driven.append(chosen is not None)
            outcome = self.environment.step(self.disturb(action) if chosen is None else chosen)
            held = held + 1 if outcome.judgement.success else 0
            if outcome.diverged:
                return None
            if held >= self.environment.hold_steps and step > self.switch_at:
                return _chunked(frames, np.array(driven))
            step += 1
        return None

    def _scatter(self) -> None:
        rng = np.random.default_rng([self.seed, 6])  # its own, as `elsewhere`
        length, angle = SCATTER
        for name in self.environment.world.objects:
            x, y = self.environment.view.position(name)[:2] + rng.uniform(-length, length, 2)
            turn = self.environment.view.yaw(name) + rng.uniform(-angle, angle)
            self.environment.move(name, float(x), float(y), float(turn))

    def _begin(self, step: int) -> None:
        """Follow another instruction from this step on."""
        self.assigned = self.maker.assign(self.scene, self.rng)
        task_id, slots = self.maker.tasks[self.assigned.task]
        self.goal = cast(Goal, self.environment.set_task((task_id, slots)))
        self.begun_at = step
        self.most_steps = catalogue.task(task_id).limits(self.environment.world.control_hz).max_steps
        self.part = self.teacher.due(self.environment, self.goal) or self.goal
        if self.driving:
            self.driving.begin(self.assigned.text, self.seed)

    def _driving(self) -> Driving | None:
        driver = self.maker.driver
        if driver is None:
            return None
        rng = np.random.default_rng([self.seed, 5])  # its own, as `elsewhere`
        return Driving(driver, self.environment, rng) if rng.random() < driver.share else None

    def _frame(self, action: Floats, step: int) -> dict[str, Any]:
        """What a control step tells: of those that are not shown, the label alone."""
        since, skipped = divmod(step - self.begun_at, self.maker.course.every)
        label = {
            "action": np.array([*action[:-1], openings(self.space, action[-1])]),
            "instruction": self.assigned.instruction,
        }
        return label if skipped else label | self._shown(since)

    def _shown(self, since: int) -> dict[str, Any]:
        environment, view = self.environment, self.environment.view
        self.part = self.teacher.due(environment, self.goal) or self.part
        aim = aim_of(environment, self.part)
        points = np.array([aim.place, aim.target, view.tool()])
        frame = {
            "images": environment.picture(self.maker.course.camera),
            "proprioception": environment.proprioception(),
            "task": self.assigned.task,
            "since": since,
            "stage": stage_of(environment, self.goal),
            "pixels": self._pixels(points),
            "points": points[:2],
            "held": is_held(environment, aim),
            "yaw": relative_yaw(environment, aim),
            "episode": self.seed,
        }
        return frame | self._whole_scene() if self.maker.course.whole_scene else frame

    def _whole_scene(self) -> dict[str, Any]:
        """Where all things are, and what the expert, which has no memory, would do here for other instructions."""
        scene = np.array([self.environment.view.position(name) for name in THINGS])
        others = [self.maker.assign(self.scene, self.elsewhere) for _ in range(OTHERS)]
        goals = [goal_of(*self.maker.tasks[one.task]) for one in others]
        return {
            "scene_pixels": self._pixels(scene),
            "scene_points": scene,
            "other_instructions": [one.instruction for one in others],
            "other_tasks": [one.task for one in others],
            "other_actions": [self.teacher.act(self.environment, goal) for goal in goals],
        }

    def _pixels(self, points: Floats) -> Floats:
        world = self.environment.world
        return cameras_of(world.robot_id, world.scene_id).project(
            points, self.maker.course.camera, self.environment.variation
        )


def _chunked(frames: list[dict[str, Any]], driven: NDArray[np.bool_]) -> Frames:
    count = len(frames)
    labels = np.array([frame["action"] for frame in frames], dtype=np.float32)
    texts = np.array([frame["instruction"] for frame in frames])
    ahead = np.arange(count)[:, None] + np.arange(CHUNK)
    inside = np.minimum(ahead, count - 1)
    known = {name: dtype for name, (_, dtype, _) in (FIELDS | SCENE_FIELDS).items() if name in frames[0]}
    shown = [number for number, frame in enumerate(frames) if "task" in frame]
    columns: Frames = {
        name: np.array([frames[number][name] for number in shown], dtype=dtype) for name, dtype in known.items()
    }
    columns["actions"] = labels[inside][shown]
    # The last label may repeat past the end, because a finished demonstration stays as it is.
    columns["mask"] = (texts[inside] == texts[:, None])[shown]
    # After a step of a driver, the expert's label answers what the driver did, which a chunk could not have known.
    columns["mask"][:, 1:] &= ~np.logical_or.accumulate(driven[inside[:, :-1]], axis=1)[shown]
    return columns
