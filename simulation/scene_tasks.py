"""The tasks of a composed scene: those of its room's model, about the things that it has."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from simulation import catalogue
from simulation.additions import NEVER, Addition
from simulation.catalogue_rows import Located, refuse, texts_of
from simulation.catalogue_tasks import read_task
from simulation.composed import Composed
from simulation.scene_plans import ROOMS

Names = Mapping[str, tuple[str, ...]]
"""A thing of the model -> the things here that are like it."""


def families_of(made: Composed) -> list[str]:
    """The families of tasks that a scene of its room can have: "pick", "place", ..."""
    return [*_task_ids(made)]


def _task_ids(made: Composed) -> dict[str, str]:
    """By family, the ids of the tasks of the room's model. They may begin with the model's name."""
    model = ROOMS[made.plan.room].model
    own = [task.id for task in catalogue.tasks() if task.scene_id == model]
    return {task_id.removeprefix(f"{model}_"): task_id for task_id in own}


def tasks_of(made: Composed) -> list[Addition]:
    """In the order of the model's. Raises CatalogueError for a family that there is not, or that has no filling."""
    task_ids, wanted = _task_ids(made), None
    if "tasks" in made.row:
        wanted = texts_of(made.row, "tasks")
        if unknown := [name for name in wanted if name not in task_ids]:
            refuse(made.row, "tasks", f"tasks: unknown family {unknown[0]!r}; known: {', '.join(task_ids)}")
    found = {
        family: _task(made, family, task_id)
        for family, task_id in task_ids.items()
        if wanted is None or family in wanted
    }
    if wanted and (empty := [family for family, task in found.items() if task is None]):
        refuse(made.row, "tasks", f"tasks: nothing in this scene can be asked by {empty[0]!r}")
    if not any(found.values()):
        refuse(made.row, "things", "things: none of the tasks of the room can be asked of them")
    return [task for task in found.values() if task]


def _task(made: Composed, family: str, task_id: str) -> Addition | None:
    """The family's task, filled with the things that the scene has; None if nothing fills it, or if it names others.
    `task_id`: of the same in the room's model."""
    model = catalogue.scene(ROOMS[made.plan.room].model)
    row = catalogue.task_row(task_id)
    alike = _alike(made)
    words = row.get("words") or {}
    fillings = [
        filling
        for slots in catalogue.task(str(row["id"])).slots
        for filling in _filled(slots, words, alike)
        if len({*_things_in(filling, words)}) == len(_things_in(filling, words))
    ]
    named = {*catalogue.texts_in(row["goal"])} & {*model.things}
    if not fillings or not named <= {*made.scene.things}:
        return None
    own = Located({**row, "id": f"{made.scene.id}_{family}", "values": fillings})
    own["environment"] = {"robot": row["environment"]["robot"], "scene": made.scene.id}
    own.source, own.line, own.lines = made.row.source, made.row.lines.get("things", made.row.line), {}  # type: ignore[attr-defined]
    scene = made.scene
    task = read_task(own, own["environment"]["robot"], scene.id, scene.things)
    return Addition(task, own, made.since or NEVER, made.until)


def _alike(made: Composed) -> dict[str, tuple[str, ...]]:
    """A place is like itself alone."""
    found: dict[str, tuple[str, ...]] = {name: (name,) for name in ROOMS[made.plan.room].targets}
    for name, thing in made.plan.things.items():
        found[thing.like] = (*found.get(thing.like, ()), name)
    return found


def _filled(slots: Mapping[str, str], words: Mapping[str, Any], alike: Names) -> Iterator[dict[str, str]]:
    choices = [(value,) if slot in words else alike.get(value, ()) for slot, value in slots.items()]
    for values in itertools.product(*choices):
        yield dict(zip(slots, values, strict=True))


def _things_in(filling: Mapping[str, str], words: Mapping[str, Any]) -> list[str]:
    return [value for slot, value in filling.items() if slot not in words]
