"""Sets of demonstrations, in shards of plain `.npy` files (no pickle), which `dataset.json` describes; see
docs/decisions/training.md.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from simulation import catalogue
from simulation.cameras import render_profile
from simulation.contracts import SimulationError
from simulation.courses import TABLE, Course, course_named
from simulation.demonstrator import THINGS, Demonstrator, fields_of, meaning_list, task_list, text_list
from simulation.driving import OpenDriver
from simulation.worlds import engine_version, load_world

FORMAT = 1
SHARD_EPISODES = 50


class DemonstrationError(SimulationError):
    """A folder that already holds a data set."""


def write_dataset(
    folder: Path,
    episodes: int,
    seed: int,
    workers: int,
    resume: bool,
    report: Callable[[int, int], None] = lambda done, total: None,
    course: Course = TABLE,
    open_driver: OpenDriver | None = None,
) -> dict[str, Any]:
    """Try `episodes` demonstrations from seeds `seed`, `seed` + 1, ... and return the content of dataset.json.

    A shard covers a fixed range of seeds and is renamed into place when complete, so that `resume` skips such shards.
    `open_driver`: opens the policy that drives parts of them; it is pickled for the processes.
    """
    _check_folder(folder, resume, course, _told(open_driver))
    folder.mkdir(parents=True, exist_ok=True)
    starts = range(seed, seed + episodes, SHARD_EPISODES)
    jobs = [(folder, course.id, open_driver, start, min(SHARD_EPISODES, seed + episodes - start)) for start in starts]
    open_jobs = [job for job in jobs if not (folder / _shard_name(job[3]) / "shard.json").exists()]
    done = len(jobs) - len(open_jobs)
    _write_index(folder, course, _told(open_driver), seed, episodes)
    with get_context("spawn").Pool(workers) as pool:
        for _ in pool.imap_unordered(_write_shard, open_jobs):
            done += 1
            _write_index(folder, course, _told(open_driver), seed, episodes)
            report(done, len(jobs))
    return _write_index(folder, course, _told(open_driver), seed, episodes)


def _told(open_driver: OpenDriver | None) -> str:
    return str(open_driver or "the expert alone")


def _check_folder(folder: Path, resume: bool, course: Course, driver: str) -> None:
    index = folder / "dataset.json"
    if not index.exists():
        return
    if not resume:
        raise DemonstrationError(f"{folder} already holds a data set; pass --resume or choose another folder")
    begun = {"course": TABLE.id, "driver": _told(None)} | json.loads(index.read_text("utf-8"))
    for name, value in (("course", course.id), ("driver", driver)):
        if begun[name] != value:
            raise DemonstrationError(f"{folder} was begun with the {name} {begun[name]}, not {value}")


@cache
def _demonstrator(course_id: str, open_driver: OpenDriver | None) -> Demonstrator:
    return Demonstrator(course_named(course_id), open_driver() if open_driver else None)


def _write_shard(job: tuple[Path, str, OpenDriver | None, int, int]) -> None:
    folder, course_id, open_driver, start, episodes = job
    maker = _demonstrator(course_id, open_driver)
    kept = [one for seed in range(start, start + episodes) if (one := maker.demonstrate(seed)) is not None]
    work, final = folder / f".{_shard_name(start)}", folder / _shard_name(start)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    for name, (shape, dtype, _) in fields_of(maker.course).items():
        parts = [one[name] for one in kept] or [np.empty((0, *shape), dtype)]
        np.save(work / f"{name}.npy", np.concatenate(parts), allow_pickle=False)
    frames = sum(len(one["task"]) for one in kept)
    (work / "shard.json").write_text(
        json.dumps({"name": final.name, "seed": start, "tried": episodes, "kept": len(kept), "frames": frames})
    )
    shutil.rmtree(final, ignore_errors=True)
    work.rename(final)


def _write_index(folder: Path, course: Course, driver: str, seed: int, episodes: int) -> dict[str, Any]:
    robot = catalogue.robot(course.robot_id)
    shards = [json.loads(path.read_text()) for path in sorted(folder.glob("shard-*/shard.json"))]
    index = {
        "format": FORMAT,
        "course": course.id,
        "driver": driver,
        "robot_id": course.robot_id,
        "action_space": robot.action_space,
        "rate_hz": robot.control_hz,
        "proprioception": robot.proprioception,
        "scenes": {scene_id: load_world(course.robot_id, scene_id).scene_hash for scene_id in course.scenes},
        "engine_version": engine_version(),
        "render_profile": render_profile(),
        "camera": asdict(course.camera),
        "license": course.license,
        "seed": seed,
        "episodes": episodes,
        "frames": sum(shard["frames"] for shard in shards),
        "kept": sum(shard["kept"] for shard in shards),
        "shards": shards,
        "fields": {
            name: {"shape": list(shape), "dtype": dtype, "what": meaning}
            for name, (shape, dtype, meaning) in fields_of(course).items()
        },
        "tasks": [{"task": task_id, "slots": slots} for task_id, slots in task_list(course)],
        "texts": text_list(course),
        "text_tasks": meaning_list(course),
        "things": list(THINGS) if course.whole_scene else [],
    }
    fresh = folder / ".dataset.json"
    fresh.write_text(json.dumps(index, indent=1))
    fresh.rename(folder / "dataset.json")
    return index


def _shard_name(start: int) -> str:
    return f"shard-{start:09d}"
