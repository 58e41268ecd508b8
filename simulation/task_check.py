"""Checking a file of tasks before it is used: its form, what its goals name, its wordings, and that no goal is reached
before anything was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulation.catalogue_rows import CatalogueError, Row, read_rows
from simulation.catalogue_tasks import Task
from simulation.environment import Environment
from simulation.goals import names_in
from simulation.goals.reading import read_goal
from simulation.task_words import place_of, read_task, wrong_words


@dataclass(frozen=True)
class TaskFile:
    """`goals`: how many filled tasks it has. `faults` begin with file and line."""

    name: str
    tasks: int
    goals: int
    faults: Sequence[str]


def check_file(path: Path, seeds: int) -> TaskFile:
    """Try every goal at the start of this many seeds, from 0 on."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return TaskFile(path.name, 0, 0, [str(error)])
    return check_text(text, path.name, seeds)


def check_text(text: str, name: str, seeds: int) -> TaskFile:
    """The same of what a file of this name would hold."""
    try:
        rows = read_rows(text, name)
    except CatalogueError as error:
        return TaskFile(name, 0, 0, [str(error)])
    read = [(row, *read_task(row)) for row in rows]
    faults = [str(fault) for _, _, fault in read if fault]
    tasks = [(row, task) for row, task, _ in read if task]
    for scene_id in sorted({task.scene_id for _, task in tasks}):
        here = [(row, task) for row, task in tasks if task.scene_id == scene_id]
        faults += [*wrong_words(scene_id, here), *wrong_goals(scene_id, here, seeds)]
    return TaskFile(name, len(rows), sum(len(task.slots) for _, task in tasks), faults)


def wrong_goals(scene_id: str, here: Sequence[tuple[Row, Task]], seeds: int) -> Iterator[str]:
    """Goals that cannot be read or judged in the scene's world, or that are reached at the start of a seed."""
    environment = Environment(here[0][1].robot_id, scene_id)
    for row, task in here:
        try:
            goals = [(slots, read_goal(row, slots, names_in(scene_id))) for slots in task.slots]
        except CatalogueError as error:
            yield str(error)
            continue
        for seed in range(seeds):
            environment.reset(seed)
            try:
                reached = next((slots for slots, goal in goals if environment.reaches_at_once(goal)), None)
            except CatalogueError as error:
                yield f"{place_of(row, 'goal')}goal: {error}"
                break
            if reached is not None:
                yield f"{place_of(row, 'goal')}goal: {task.id} {dict(reached)} is reached at the start of seed {seed}"
                break
