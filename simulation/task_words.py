"""What can be checked of tasks without physics: their form, and that each wording means one task alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulation import catalogue
from simulation.catalogue_rows import CatalogueError, Located, Row
from simulation.catalogue_tasks import TEMPLATES, Task


def read_task(row: Row) -> tuple[Task | None, CatalogueError | None]:
    """The task of an entry, or what is wrong with it."""
    try:
        return catalogue.task_from(row), None
    except CatalogueError as error:
        return None, error


def wrong_words(scene_id: str, here: Sequence[tuple[Row, Task]]) -> Iterator[str]:
    """Wordings that mean something else as well, among these tasks or in the catalogue."""
    own = {task.id for _, task in here}
    others = [task for task in catalogue.meant_tasks() if task.scene_id == scene_id and task.id not in own]
    try:
        reader = catalogue.matcher_of(scene_id, [*others, *(task for _, task in here)])
    except CatalogueError as error:
        yield str(error)
        return
    for row, task in here:
        wordings = (one for slots in task.slots for one in catalogue.phrasings_of(task, slots))
        if wrong := next((one for one in wordings if reader.meaning(one.text) != (task.id, dict(one.slots))), None):
            yield f"{place_of(row, TEMPLATES)}{wrong.text!r} does not mean {task.id} {dict(wrong.slots)} alone"


def place_of(row: Row, key: str | None = None) -> str:
    return row.place(key) if isinstance(row, Located) else ""
