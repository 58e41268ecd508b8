"""Demonstrations as `manage.py demos` writes them, read through memory maps, so that two runs share one copy."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.base import DatasetError, PolicyError
from policies.folder import read_json
from policies.transforms import measure
from simulation.contracts import POLICY_CAMERA

Array = NDArray[Any]
INDEX = "dataset.json"
LABELS = ("proprioception", "actions", "mask", "instruction", "pixels", "points", "held", "yaw")
SMALL = (*LABELS, "task", "episode")
SINCE = "since"  # frames since the first one with the same instruction
STAGE = "stage"  # how many stages of the goal are reached
SAME = (
    "texts",
    "text_tasks",
    "tasks",
    "things",
    "scenes",
    "camera",
    "render_profile",
)  # of folders trained on together
CONTROL = ("action_space", "rate_hz", "proprioception")  # fields of PolicySpec
SCENE = ("scene_pixels", "scene_points", "other_instructions", "other_tasks", "other_actions")


@dataclass(frozen=True)
class Frames:
    """Frames. images uint8 (B, H, W, 3); actions (B, chunk, 7) clean labels [m, rad, gripper]; mask (B, chunk);
    instruction (B,) index into the texts.

    pixels (B, 3, 2) x, y in 0..1 of named object, target, tool; points (B, 2, 3) xyz [m] of object and target;
    held (B,); yaw (B, 2) sin 4a, cos 4a of the named object's yaw against the tool, 0 0 for round things.
    """

    images: Array
    proprioception: Array
    actions: Array
    mask: Array
    instruction: Array
    pixels: Array
    points: Array
    held: Array
    yaw: Array


@dataclass(frozen=True)
class SceneFrames:
    """Labels beyond a frame's own instruction. Things: the four objects and two plates, in a fixed order.

    things_pixels (B, 6, 2) x, y in 0..1; things_points (B, 6, 3) xyz [m]; instructions, tasks (B, K): further wordings
    (index into the texts) and their tasks; actions (B, K, 7): the clean label of each in this very state.
    """

    things_pixels: Array
    things_points: Array
    instructions: Array
    tasks: Array
    actions: Array


class Demonstrations:
    """All frames of one folder or of several of one course, or of a random share of their episodes. Pictures stay on
    disk, other arrays in memory.
    """

    def __init__(self, folder: Path, *further: Path, fraction: float = 1.0, seed: int = 0) -> None:
        index = _read_index(folder)
        shards = _shards(folder, index)
        for other in further:
            shards += _shards(other, _same_course(other, folder, index))
        self._images = [_load(path, "images") for path in shards]
        arrays: Mapping[str, Array] = {name: np.concatenate([_load(path, name) for path in shards]) for name in SMALL}
        starts = np.cumsum([0, *map(len, self._images)])
        if any(len(array) != starts[-1] for array in arrays.values()):
            raise DatasetError(f"{folder}: {starts[-1]} pictures but {len(arrays['task'])} rows of labels")
        keep = _share(arrays["episode"], fraction, seed)
        self._shard = (np.searchsorted(starts, keep, side="right") - 1).astype(np.int64)
        self._row = keep - starts[self._shard]
        self.labels = {name: array[keep] for name, array in arrays.items()}
        """All labels but pictures and those of `read_scene`, one row per frame."""
        self.episodes = len(np.unique(self.labels["episode"]))
        self.chunk = int(self.labels["actions"].shape[1])
        self.image_size = int(self._images[0].shape[1])
        self._shards, self._keep, self._scene = shards, keep, dict[str, Array]()
        self._since: Array | None = None
        self._stage: Array | None = None
        self.robot_id = str(index["robot_id"])
        self.camera = str(index.get("camera", {}).get("name", POLICY_CAMERA.name))
        self.license = str(index.get("license", "Apache-2.0"))
        self.control: dict[str, Any] = {name: index[name] for name in CONTROL if name in index}
        """What a card has to declare of the robot; nothing of a set that does not tell it, which is of the WidowX."""
        self.wordings: list[str] = index["texts"]  # by text number, including those that never occur
        self.scenes = sorted(index.get("scenes", {}))
        self.things: list[str] = index.get("things", [])  # the order of SceneFrames' things
        self._tasks: list[dict[str, Any]] = index.get("tasks", [])
        self.texts, self.goals = self._instructions(index)
        self.alike = _alike(index)  # the texts to train with of each task, by number
        self.fingerprint = _fingerprint(self.texts, self.labels)

    def _instructions(self, index: Mapping[str, Any]) -> tuple[dict[int, str], dict[int, int]]:
        """The wordings of the tasks that occur, and the goal of each wording to train with, by text number: of the
        whole course, or in demonstrations that do not tell it of those that occur. Kept-out wordings never occur, and
        have no goal.
        """
        used = np.unique(np.stack([self.labels["instruction"], self.labels["task"]], 1), axis=0).tolist()
        told = [(text, task) for text, tasks in enumerate(index.get("text_tasks", [])) for task in tasks]
        shown = {task for _, task in used}
        said = sorted({text for text, _ in used} | {text for text, task in told if task in shown})
        return {number: str(index["texts"][number]) for number in said}, joined(sorted({*map(tuple, used), *told}))

    def __len__(self) -> int:
        return len(self._row)

    def read(self, rows: Array) -> Frames:
        images = np.stack([self._images[self._shard[row]][self._row[row]] for row in rows])
        return Frames(images, **{name: self.labels[name][rows] for name in LABELS})

    def read_beginnings(self, rows: Array) -> Array:
        """The picture with which each frame's instruction began, uint8 (B, H, W, 3)."""
        firsts = self._row[rows] - self._since_first[rows]
        return np.stack([self._images[self._shard[row]][first] for row, first in zip(rows, firsts, strict=True)])

    def stages(self, rows: Array, ago: Array) -> Array:
        """How many stages of its instruction's goal were reached `ago` (B,) frames before each frame, or at the first
        frame of the instruction if that is later; int64 (B,). Zeros for demonstrations without the field.
        """
        if self._stage is None:
            self._stage = self._column(STAGE) if self.has_stages else np.zeros(len(self), np.int64)
        reached: Array = self._stage[rows - np.minimum(ago, self._since_first[rows])].astype(np.int64)
        return reached

    @property
    def has_stages(self) -> bool:
        return all((path / f"{STAGE}.npy").exists() for path in self._shards)

    @property
    def _since_first(self) -> Array:
        """Loaded on first use."""
        if self._since is None:
            self._since = self._column(SINCE)
        return self._since

    def _column(self, name: str) -> Array:
        column: Array = np.concatenate([_load(path, name) for path in self._shards])[self._keep]
        return column

    def read_scene(self, rows: Array) -> SceneFrames:
        """Loaded on first use: a family that learns from one instruction per frame does not need it."""
        if not self._scene:
            loaded = {name: np.concatenate([_load(path, name) for path in self._shards]) for name in SCENE}
            self._scene = {name: array[self._keep] for name, array in loaded.items()}
        return SceneFrames(*(self._scene[name][rows] for name in SCENE))

    def times(self, repeat: Mapping[str, int]) -> Array | None:
        """How often a pass shows each frame, int64 (frames,): those of a named task so many times, others once. None if
        no task is named. Raises DatasetError for a task of which nothing is shown.
        """
        named = [str(task["task"]) for task in self._tasks]
        shown = {named[number] for number in np.unique(self.labels["task"]).tolist()} if repeat else set()
        if unknown := sorted({*repeat} - shown):
            raise DatasetError(f"repeat: no frames of {', '.join(unknown)}; there are of {', '.join(sorted(shown))}")
        if not repeat:
            return None
        return np.array([repeat.get(name, 1) for name in named], np.int64)[self.labels["task"]]

    def roles(self) -> Array:
        """Index in `things` of each task's object and target (picks: the object), int64 (tasks, 2)."""
        if not self.things:
            raise DatasetError("the demonstrations do not name their things; `manage.py demos --resume` adds it")
        slots = [task["slots"] for task in self._tasks]
        named = [(slot["object"], slot.get("target") or slot.get("base") or slot["object"]) for slot in slots]
        return np.array([[self.things.index(name) for name in pair] for pair in named], np.int64)

    def statistics(self) -> dict[str, Any]:
        """The content of dataset_statistics.json, over the first action of every chunk."""
        actions = self.labels["actions"][:, 0].astype(np.float64)
        points = self.labels["points"].reshape(-1, 3).astype(np.float64)
        return measure(self.robot_id, actions, self.labels["proprioception"].astype(np.float64), points)


def joined(uses: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Text -> goal, from (text, task) of all that occur: tasks of several scenes that share a text are one goal, which
    has the number of the first of them.
    """
    goals: dict[int, int] = {}  # of tasks
    texts: dict[int, int] = {}  # text -> one of its tasks

    def goal(task: int) -> int:
        while (further := goals.setdefault(task, task)) != task:
            task = further
        return task

    for text, task in uses:
        one, other = sorted((goal(task), goal(texts.setdefault(text, task))))
        goals[other] = one
    return {text: goal(task) for text, task in texts.items()}


def _alike(index: Mapping[str, Any]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for text, tasks in enumerate(index.get("text_tasks", [])):
        for task in tasks:
            found.setdefault(task, []).append(text)
    return found


def _read_index(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise DatasetError(f"{folder}: no such directory; make demonstrations with `manage.py demos`")
    try:
        return read_json(folder, INDEX)
    except PolicyError as error:
        raise DatasetError(f"{error}; make demonstrations with `manage.py demos`") from None


def _shards(folder: Path, index: Mapping[str, Any]) -> list[Path]:
    shards = [folder / str(row["name"]) for row in index["shards"] if row["frames"]]
    if not shards:
        raise DatasetError(f"{folder}: no demonstrations yet")
    return shards


def _same_course(folder: Path, first: Path, index: Mapping[str, Any]) -> dict[str, Any]:
    """The index of a folder whose numbers of tasks and texts mean what those of the first folder mean."""
    found = _read_index(folder)
    if unlike := [name for name in SAME if found.get(name) != index.get(name)]:
        raise DatasetError(f"{folder}: differs from {first} in {', '.join(unlike)}; make both of one course")
    return found


def _load(shard: Path, name: str) -> Array:
    """A memory map of one array. Nothing is unpickled."""
    path = shard / f"{name}.npy"
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: cannot be read: {error}") from None
    return array


def _share(episode: Array, fraction: float, seed: int) -> Array:
    """Row numbers of a random share of the episodes, which stay whole."""
    if not 0 < fraction <= 1:
        raise DatasetError(f"fraction: expected more than 0 and at most 1, got {fraction}")
    known = np.unique(episode)
    count = max(1, round(fraction * len(known)))
    chosen = np.random.default_rng([seed, 2]).permutation(known)[:count]
    return np.flatnonzero(np.isin(episode, chosen))


def _fingerprint(texts: Mapping[int, str], small: Mapping[str, Array]) -> str:
    """sha256 hex over texts and labels, so that a run resumes only on the demonstrations that it began with."""
    digest = hashlib.sha256(json.dumps(sorted(texts.items())).encode())
    for name in sorted(small):
        digest.update(np.ascontiguousarray(small[name]).tobytes())
    return digest.hexdigest()
