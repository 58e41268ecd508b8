"""Demonstrations: the disturbed expert, labelled with what it would do, with varied camera and light.

Frames go to shards of plain `.npy` files (no pickle), which `dataset.json` describes; see docs/decisions/training.md.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulation import catalogue
from simulation.cameras import cameras_of, render_profile
from simulation.catalogue_tasks import Task
from simulation.contracts import POLICY_CAMERA, Floats, SimulationError
from simulation.disturbance import Disturbance, draw_variation
from simulation.environment import Environment
from simulation.expert import CUBES, act, cube_yaw, holds
from simulation.goals import goal_of
from simulation.worlds.table import OBJECTS, TARGETS
from simulation.worlds.widowx import ACTION, PROPRIOCEPTION

FORMAT = 1
CHUNK = 4
SHARD_EPISODES = 50
SPARE_STEPS = 10  # more than a turn has, for demonstrations that change their instruction
FAMILIES = {"pick": 0.25, "place": 0.35, "stack": 0.40}
NOISE_LEVELS = (0.0, 1.0, 1.6)
OTHERS = 3  # further instructions per frame with the expert's action
SWITCH_SHARE = 0.2  # of the demonstrations change their instruction midway
THINGS = (*OBJECTS, *TARGETS)  # the order of scene_pixels and scene_points
FIELDS = {  # name -> (shape of one frame, dtype, meaning)
    "images": ((POLICY_CAMERA.height, POLICY_CAMERA.width, 3), "uint8", "RGB of camera 'workspace'"),
    "proprioception": (
        (len(PROPRIOCEPTION),),
        "float32",
        "tool x y z [m], sin and cos yaw, tilt x y, finger opening 0..1",
    ),
    "actions": ((CHUNK, len(ACTION)), "float32", "clean actions for this and the next frames: m, rad, gripper 1 open"),
    "mask": ((CHUNK,), "bool", "which actions of the chunk exist and belong to the frame's instruction"),
    "instruction": ((), "int32", "index into texts"),
    "task": ((), "int32", "index into tasks"),
    "pixels": ((3, 2), "float32", "x, y from the top left, 0..1, of named object, target (picks: object) and tool"),
    "points": ((2, 3), "float32", "x y z [m, base frame] of the named object and of the target (picks: the object)"),
    "held": ((), "bool", "both pads hold the named object"),
    "yaw": ((2,), "float32", "sin 4a, cos 4a of the named cube's yaw against the tool's; 0 0 for round things"),
    "episode": ((), "int64", "seed of the demonstration"),
    "scene_pixels": ((len(THINGS), 2), "float32", "x, y from the top left, 0..1, of every thing, hidden or not"),
    "scene_points": ((len(THINGS), 3), "float32", "x y z [m, base frame] of the same"),
    "other_instructions": ((OTHERS,), "int32", "wordings of other tasks, drawn for each frame: indices into texts"),
    "other_tasks": ((OTHERS,), "int32", "what they ask for: indices into tasks"),
    "other_actions": ((OTHERS, len(ACTION)), "float32", "the expert's action for each: m, rad, gripper 1 open"),
}


class DemonstrationError(SimulationError):
    """A folder that already holds a data set."""


@dataclass(frozen=True)
class Assignment:
    """One wording and its goal. Indices are those of the data set's lists."""

    text: str
    instruction: int
    task: int
    object: str
    target: str


def task_list() -> list[tuple[str, dict[str, str]]]:
    """Every task of FAMILIES with its slots filled, in the order of the `task` index."""
    return [(each.id, dict(slots)) for each in _tasks() for slots in each.slots]


def text_list() -> list[str]:
    """Every wording, kept-out ones included (never used here), in the order of the `instruction` index."""
    return [one.text for one in catalogue.instructions(of=_tasks())]


def _tasks() -> list[Task]:
    return [catalogue.task(name) for name in FAMILIES]


class Demonstrator:
    """Makes one demonstration per seed, and keeps the environment and the catalogue's lists."""

    def __init__(self) -> None:
        self.environment = Environment()
        self.tasks = task_list()
        self._wordings = [catalogue.phrasings(task_id, slots, train=True) for task_id, slots in self.tasks]
        self._index = {text: index for index, text in enumerate(text_list())}
        self._families = {
            name: [index for index, (task_id, _) in enumerate(self.tasks) if task_id == name] for name in FAMILIES
        }

    def assign(self, rng: np.random.Generator) -> Assignment:
        family = str(rng.choice(list(FAMILIES), p=list(FAMILIES.values())))
        index = int(rng.choice(self._families[family]))
        _, slots = self.tasks[index]
        wordings = self._wordings[index]
        text = wordings[int(rng.integers(len(wordings)))].text
        target = slots.get("target") or slots.get("base") or slots["object"]
        return Assignment(text, self._index[text], index, slots["object"], target)

    def demonstrate(self, seed: int) -> dict[str, NDArray[Any]] | None:
        """The frames of one demonstration, field name -> (n, ...), or None when it did not succeed in time."""
        rng = np.random.default_rng([seed, 1])
        environment = self.environment
        environment.reset(seed, draw_variation(rng))
        elsewhere = np.random.default_rng([seed, 3])  # its own, so that more labels change no demonstration
        disturb = Disturbance(rng, NOISE_LEVELS[int(rng.integers(len(NOISE_LEVELS)))])
        assigned = self.assign(rng)
        switch_at = int(rng.integers(4, 16)) if rng.random() < SWITCH_SHARE else -1
        environment.set_instruction(assigned.text)
        frames: list[dict[str, Any]] = []
        held = 0
        step = 0
        while step < catalogue.task(self.tasks[assigned.task][0]).max_steps + SPARE_STEPS:
            if step == switch_at:
                assigned, held = self.assign(rng), 0
                environment.set_instruction(assigned.text)
            action = act(environment, environment.goal)
            frames.append(self._frame(assigned, action, seed) | self._others(elsewhere))
            outcome = environment.step(disturb(action))
            held = held + 1 if outcome.judgement.success else 0
            if outcome.diverged:
                return None
            if held >= environment.hold_steps and step > switch_at:
                return _chunked(frames)
            step += 1
        return None

    def _frame(self, assigned: Assignment, action: Floats, seed: int) -> dict[str, Any]:
        environment, view = self.environment, self.environment.view
        scene = np.array([view.position(name) for name in THINGS])
        points = np.array([view.position(assigned.object), view.position(assigned.target), view.tool()])
        cameras = cameras_of(environment.world.robot_id, environment.world.scene_id)
        return {
            "images": environment.picture(),
            "proprioception": environment.proprioception(),
            "action": action,
            "instruction": assigned.instruction,
            "task": assigned.task,
            "pixels": cameras.project(points, POLICY_CAMERA, environment.variation),
            "points": points[:2],
            "held": holds(environment, assigned.object),
            "yaw": relative_yaw(environment, assigned.object),
            "episode": seed,
            "scene_pixels": cameras.project(scene, POLICY_CAMERA, environment.variation),
            "scene_points": scene,
        }

    def _others(self, rng: np.random.Generator) -> dict[str, Any]:
        """What the expert would do here for other instructions, which it can because it has no memory."""
        assigned = [self.assign(rng) for _ in range(OTHERS)]
        return {
            "other_instructions": [one.instruction for one in assigned],
            "other_tasks": [one.task for one in assigned],
            "other_actions": [act(self.environment, goal_of(*self.tasks[one.task])) for one in assigned],
        }


def relative_yaw(environment: Environment, name: str) -> tuple[float, float]:
    """sin 4a and cos 4a of a cube's yaw a against the tool's; (0, 0) for round things."""
    if name not in CUBES:
        return 0.0, 0.0
    angle = cube_yaw(environment.view.rotation(name)) - environment.view.tool_yaw()
    return float(np.sin(4 * angle)), float(np.cos(4 * angle))


def write_dataset(
    folder: Path,
    episodes: int,
    seed: int,
    workers: int,
    resume: bool,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Try `episodes` demonstrations from seeds `seed`, `seed` + 1, ... and return the content of dataset.json.

    A shard covers a fixed range of seeds and is renamed into place when complete, so that `resume` skips such shards.
    """
    if (folder / "dataset.json").exists() and not resume:
        raise DemonstrationError(f"{folder} already holds a data set; pass --resume or choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(seed, seed + episodes, SHARD_EPISODES)
    jobs = [(folder, start, min(SHARD_EPISODES, seed + episodes - start)) for start in starts]
    open_jobs = [job for job in jobs if not (folder / _shard_name(job[1]) / "shard.json").exists()]
    done = len(jobs) - len(open_jobs)
    _write_index(folder, seed, episodes)
    with get_context("spawn").Pool(workers) as pool:
        for _ in pool.imap_unordered(_write_shard, open_jobs):
            done += 1
            _write_index(folder, seed, episodes)
            report(done, len(jobs))
    return _write_index(folder, seed, episodes)


def _chunked(frames: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    count = len(frames)
    labels = np.array([frame["action"] for frame in frames], dtype=np.float32)
    texts = np.array([frame["instruction"] for frame in frames])
    ahead = np.arange(count)[:, None] + np.arange(CHUNK)
    inside = np.minimum(ahead, count - 1)
    columns: dict[str, NDArray[Any]] = {
        name: np.array([frame[name] for frame in frames], dtype=dtype)
        for name, (_, dtype, _) in FIELDS.items()
        if name not in ("actions", "mask")
    }
    columns["actions"] = labels[inside]
    # The last label may repeat past the end, because a finished demonstration stays as it is.
    columns["mask"] = texts[inside] == texts[:, None]
    return columns


@cache
def _demonstrator() -> Demonstrator:
    return Demonstrator()


def _write_shard(job: tuple[Path, int, int]) -> None:
    folder, start, episodes = job
    found = [_demonstrator().demonstrate(seed) for seed in range(start, start + episodes)]
    kept = [one for one in found if one is not None]
    work, final = folder / f".{_shard_name(start)}", folder / _shard_name(start)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for name, (shape, dtype, _) in FIELDS.items():
        parts = [one[name] for one in kept] or [np.empty((0, *shape), dtype)]
        np.save(work / f"{name}.npy", np.concatenate(parts), allow_pickle=False)
    frames = sum(len(one["task"]) for one in kept)
    (work / "shard.json").write_text(
        json.dumps({"name": final.name, "seed": start, "tried": episodes, "kept": len(kept), "frames": frames})
    )
    shutil.rmtree(final, ignore_errors=True)
    work.rename(final)


def _write_index(folder: Path, seed: int, episodes: int) -> dict[str, Any]:
    shards = [json.loads(path.read_text()) for path in sorted(folder.glob("shard-*/shard.json"))]
    environment = Environment()
    index = {
        "format": FORMAT,
        "robot_id": environment.world.robot_id,
        "scene_id": environment.world.scene_id,
        "scene_hash": environment.scene_hash,
        "engine_version": environment.engine_version,
        "render_profile": render_profile(),
        "camera": asdict(POLICY_CAMERA),
        "seed": seed,
        "episodes": episodes,
        "frames": sum(shard["frames"] for shard in shards),
        "kept": sum(shard["kept"] for shard in shards),
        "shards": shards,
        "fields": {
            name: {"shape": list(shape), "dtype": dtype, "what": meaning}
            for name, (shape, dtype, meaning) in FIELDS.items()
        },
        "tasks": [{"task": task_id, "slots": slots} for task_id, slots in task_list()],
        "texts": text_list(),
        "things": list(THINGS),
    }
    fresh = folder / ".dataset.json"
    fresh.write_text(json.dumps(index, indent=1))
    fresh.rename(folder / "dataset.json")
    return index


def _shard_name(start: int) -> str:
    return f"shard-{start:09d}"
