"""The scenes that moderators published, read from their rows."""

from __future__ import annotations

import logging
from dataclasses import replace

from robots.models import PublishedScene
from simulation.catalogue_rows import CatalogueError, read_rows
from simulation.composed import Composed
from simulation.scene_plans import read_plan
from simulation.scene_tasks import tasks_of

log = logging.getLogger(__name__)
SOURCE = "scene"


def read(text: str) -> Composed:
    """A scene in YAML: a list of one entry. Raises CatalogueError with the line."""
    rows = read_rows(text, SOURCE)
    if len(rows) != 1:
        raise CatalogueError(f"{SOURCE}: expected a list of one scene, got {len(rows)}")
    return read_plan(rows[0])


def composed_of(row: PublishedScene) -> Composed:
    """Raises CatalogueError with the line."""
    return replace(read(row.yaml), since=row.since, until=row.until)


def every() -> list[Composed]:
    """What was ever published, in order. What this release cannot read any more is logged, and cannot be played."""
    found = []
    for row in PublishedScene.objects.exclude(state=PublishedScene.State.DRAFT).order_by("since", "pk"):
        try:
            made = composed_of(row)
            tasks_of(made)
        except CatalogueError as error:
            log.error("%s, published, cannot be read: %s", row, error)
        else:
            found.append(made)
    return found
