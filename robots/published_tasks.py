"""Tasks that moderators publish: what may be published, and how every process learns of it.

A publication takes effect a few seconds later, when every process has read it, and counts for what is said from then
on: a turn that runs keeps its goal. What is withdrawn stays known, because recordings are judged by it.
"""

from __future__ import annotations

import logging
import threading
import time

from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction

from arena.audit import Act
from robots import publications, scene_rows
from robots.models import PublishedScene, PublishedTask, TaskTrial
from robots.publications import NotPublishable
from simulation import additions, catalogue, composed
from simulation.additions import Addition
from simulation.catalogue_rows import CatalogueError, read_rows, refuse
from simulation.goals import names_in
from simulation.goals.reading import read_goal
from simulation.scene_tasks import tasks_of
from simulation.task_words import wrong_words

log = logging.getLogger(__name__)
SOURCE = "task"
LONGEST_ID = 60
State = PublishedTask.State


class _Known:
    """What this process has read. `edition`: of the last publication or withdrawal of a task, and of a scene."""

    lock = threading.Lock()
    edition: tuple[int, int] = (0, 0)
    read_at = 0.0


def refresh(at_once: bool = False) -> None:
    """Read what was published since, if it is time to look. Two short queries every few seconds."""
    if not at_once and time.monotonic() - _Known.read_at < settings.TASKS_CHECK_S:
        return
    with _Known.lock:
        _Known.read_at = time.monotonic()
        edition = publications.last_edition(PublishedTask), publications.last_edition(PublishedScene)
        if edition != _Known.edition:
            scenes = scene_rows.every()
            composed.replace(scenes)
            additions.replace([*(task for made in scenes for task in tasks_of(made)), *_additions()])
            _Known.edition = edition


def refresh_if_possible() -> None:
    """For commands, which also work without a database: then there are the tasks of the files alone."""
    try:
        refresh(at_once=True)
    except DatabaseError as error:
        log.warning("The tasks of moderators could not be read: %s", error)


def _additions() -> list[Addition]:
    """Of what was ever published, in order. One that this release cannot read any more is logged, and is not meant."""
    found = []
    for row in PublishedTask.objects.exclude(state=State.DRAFT).order_by("since", "pk"):
        try:
            found.append(addition_of(row))
        except CatalogueError as error:
            log.error("%s, published, cannot be read: %s", row, error)
    return found


def addition_of(row: PublishedTask) -> Addition:
    """The task of a row. Raises CatalogueError with the line."""
    return read(row.yaml, row.since, row.until)


def read(text: str, since: object = None, until: object = None) -> Addition:
    """A task in YAML: a list of one entry. Raises CatalogueError with the line."""
    rows = read_rows(text, SOURCE)
    if len(rows) != 1:
        raise CatalogueError(f"{SOURCE}: expected a list of one task, got {len(rows)}")
    task = catalogue.task_from(rows[0])
    return Addition(task, rows[0], since or additions.NEVER, until)  # type: ignore[arg-type] # columns of the row


def faults_of(text: str, pk: int | None = None) -> list[str]:
    """All that can be said against publishing a task without playing it. `pk`: its own row."""
    try:
        added = read(text)
        for slots in added.task.slots:
            read_goal(added.row, slots, names_in(added.task.scene_id))
        _check_frame(added, pk)
    except CatalogueError as error:
        return [str(error)]
    return list(wrong_words(added.task.scene_id, [(added.row, added.task)]))


def _check_frame(added: Addition, pk: int | None) -> None:
    """Raise CatalogueError unless the id is new, the world is there, and the clock of turns has room for the task."""
    task, row = added.task, added.row
    if (task.robot_id, task.scene_id) not in catalogue.worlds():
        refuse(row, "environment", f"environment: {task.robot_id} does not work in scene {task.scene_id}")
    taken = {each.id for each in catalogue.tasks()}
    taken |= {each.task.id for made in composed.every() for each in tasks_of(made)}
    published = PublishedTask.objects.exclude(state=State.DRAFT).filter(task_id=task.id)
    if task.id in taken or any(each.pk != pk for each in published):
        refuse(row, "id", f"id: there is, or was, a task {task.id!r} already")
    if len(task.id) > LONGEST_ID or not task.id.replace("_", "").replace("-", "").isalnum():
        refuse(row, "id", f"id: expected at most {LONGEST_ID} letters, digits, - and _")
    most = max(each.max_steps for each in catalogue.offered_tasks())
    if task.max_steps > most:
        refuse(row, "max_steps", f"max_steps: at most {most}, as the longest task of the catalogue")


def save_draft(row: PublishedTask) -> None:
    """Keep a draft, whatever its faults. Raises NotPublishable for what is no draft any more."""
    row.task_id = publications.id_in(row.yaml, SOURCE, LONGEST_ID)
    publications.keep(row)


def is_checked(row: PublishedTask) -> bool:
    """Whether a worker has checked this very text, and found nothing."""
    checks = row.trials.filter(what=TaskTrial.What.CHECK, yaml=row.yaml).exclude(done_at=None)
    return any(check.result.get("faults") == [] for check in checks)


def publish(row: PublishedTask, moderator: User | None) -> None:
    """Let sentences mean it, from a few seconds on. Raises NotPublishable, with what is wrong."""
    with transaction.atomic():
        row = publications.locked_draft(row)
        if faults := faults_of(row.yaml, row.pk):
            raise NotPublishable("; ".join(faults))
        if not is_checked(row):
            raise NotPublishable("a worker has not checked this text yet, or has found faults")
        publications.publish(row, moderator, Act.PUBLISH_TASK)
        refresh_after_commit()


def withdraw(row: PublishedTask, moderator: User | None, reason: str) -> None:
    """No sentence means it any more, from a few seconds on. Raises NotPublishable, ReasonMissing."""
    with transaction.atomic():
        publications.withdraw(row, moderator, Act.WITHDRAW_TASK, reason)
        refresh_after_commit()


def refresh_after_commit() -> None:
    transaction.on_commit(lambda: refresh(at_once=True))
