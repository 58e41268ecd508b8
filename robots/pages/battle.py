"""What the battle page of robots shows beside what all kinds have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy

from arena.kinds import Kind, Place
from simulation import catalogue

# Their names are those of arena.models.REASONS.
REASONS = {
    "closer": gettext_lazy("Closer to the goal"),
    "smoother": gettext_lazy("Smoother"),
    "safer": gettext_lazy("Safer"),
    "faster": gettext_lazy("Faster"),
}


def page_context(place: Place) -> dict[str, Any]:
    return {
        "robot": catalogue.robot(place.setting),
        "scene": catalogue.scene(place.scene),
        "suggestions": catalogue.suggestions(place.scene),
        "tasks": [_task(task) for task in catalogue.tasks() if task.scene_id == place.scene],
    }


def _task(task: catalogue.Task) -> dict[str, Any]:
    """A task with one wording for each of its fillings."""
    instructions = [catalogue.phrasings(task.id, slots)[0].text for slots in task.slots]
    return {"name": task.name, "description": task.description, "instructions": instructions}


class Robots(Kind):
    id = "robots"
    reasons = REASONS
    template = "robots/battle.html"
    address = "battle"

    def choose(self, wanted: Mapping[str, Any]) -> Place:
        return Place(settings.DEFAULT_ROBOT, settings.DEFAULT_SCENE)

    def page_context(self, place: Place) -> dict[str, Any]:
        return page_context(place)
