"""`manage.py add_task FILE`: check the tasks of a file, and publish them as a moderator does."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from robots import published_tasks
from robots.models import PublishedTask, TaskTrial
from robots.publications import NotPublishable
from simulation.catalogue_rows import CatalogueError, read_rows


class Command(BaseCommand):
    help = "Check the tasks of a file, whose goals are tried at first states, and publish them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--draft", action="store_true", help="leave the publication to a moderator")
        parser.add_argument("--seeds", type=int, default=20, help="how many first states to try every goal in")

    def handle(self, *args: Any, **options: Any) -> None:
        from simulation.task_check import check_text

        if options["seeds"] < 1:
            raise CommandError("--seeds must be at least 1")
        published_tasks.refresh(at_once=True)
        path: Path = options["file"]
        try:
            text = path.read_text("utf-8")
            entries = _entries(text, path.name)
        except (OSError, UnicodeDecodeError, CatalogueError) as error:
            raise CommandError(str(error)) from error
        if faults := check_text(text, path.name, options["seeds"]).faults:
            raise CommandError("\n".join(faults))
        try:
            with transaction.atomic():
                rows = [_enter(entry, publish=not options["draft"]) for entry in entries]
        except NotPublishable as refusal:
            raise CommandError(str(refusal)) from refusal
        for row in rows:
            self.stdout.write(f"{row}: {'a draft' if options['draft'] else 'published'}")


def _entries(text: str, name: str) -> list[str]:
    """The text of each entry. Raises CatalogueError unless each begins on a line of its own."""
    rows, lines = read_rows(text, name), text.splitlines(keepends=True)
    begins = [getattr(row, "line", 1) - 1 for row in rows]
    found = ["".join(lines[first:last]) for first, last in zip(begins, [*begins[1:], len(lines)], strict=True)]
    if [read_rows(each, name) for each in found] != [[row] for row in rows]:
        raise CatalogueError(f"{name}: expected a list in which each task begins with a line of its own")
    return found


def _enter(text: str, publish: bool) -> PublishedTask:
    row = PublishedTask(yaml=text)
    published_tasks.save_draft(row)
    checked: dict[str, Any] = {"result": {"faults": []}, "done_at": timezone.now()}
    TaskTrial.objects.create(task=row, what=TaskTrial.What.CHECK, yaml=text, **checked)
    if publish:
        published_tasks.publish(row, None)
    return row
