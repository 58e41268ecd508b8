"""Checking a file of tasks before it is used: its form, what its goals name, its wordings, and that no goal is reached
before anything was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulation import catalogue
from simulation.catalogue_rows import CatalogueError, Located, Row, read_rows
from simulation.catalogue_tasks import TEMPLATES, Task
from simulation.environment import Environment
from simulation.goals import names_in
from simulation.goals.reading import read_goal


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
        rows = read_rows(path.read_text("utf-8"), path.name)
    except (CatalogueError, OSError, UnicodeDecodeError) as error:
        return TaskFile(path.name, 0, 0, [str(error)])
    read = [(row, *_read(row)) for row in rows]
    faults = [str(fault) for _, _, fault in read if fault]
    tasks = [(row, task) for row, task, _ in read if task]
    for scene_id in sorted({task.scene_id for _, task in tasks}):
        here = [(row, task) for row, task in tasks if task.scene_id == scene_id]
        faults += [*_wrong_words(scene_id, here), *_wrong_goals(scene_id, here, seeds)]
    return TaskFile(path.name, len(rows), sum(len(task.slots) for _, task in tasks), faults)


def _read(row: Row) -> tuple[Task | None, CatalogueError | None]:
    try:
        return catalogue.task_from(row), None
    except CatalogueError as error:
        return None, error


def _wrong_words(scene_id: str, here: Sequence[tuple[Row, Task]]) -> Iterator[str]:
    """Wordings that mean something else as well, in this file or in the catalogue."""
    own = {task.id for _, task in here}
    others = [task for task in catalogue.tasks() if task.scene_id == scene_id and task.id not in own]
    try:
        reader = catalogue.matcher_of(scene_id, [*others, *(task for _, task in here)])
    except CatalogueError as error:
        yield str(error)
        return
    for row, task in here:
        wordings = (one for slots in task.slots for one in catalogue.phrasings_of(task, slots))
        if wrong := next((one for one in wordings if reader.meaning(one.text) != (task.id, dict(one.slots))), None):
            yield f"{_place(row, TEMPLATES)}{wrong.text!r} does not mean {task.id} {dict(wrong.slots)} alone"


def _wrong_goals(scene_id: str, here: Sequence[tuple[Row, Task]], seeds: int) -> Iterator[str]:
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
                yield f"{_place(row, 'goal')}goal: {error}"
                break
            if reached is not None:
                yield f"{_place(row, 'goal')}goal: {task.id} {dict(reached)} is reached at the start of seed {seed}"
                break


def _place(row: Row, key: str | None = None) -> str:
    return row.place(key) if isinstance(row, Located) else ""
