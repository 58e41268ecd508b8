"""Studies that an account asked for: a copy of them, and their deletion."""

from __future__ import annotations

from collections.abc import Iterator

from people.own_data import Owner, Part, Row
from studies.models import Study

COLUMNS = (
    *("study_id", "a_id", "b_id", "robot_id", "scene_id", "tasks", "seeds", "first_seed", "margin", "play_all"),
    *("state", "pairs", "error", "told", "created_at", "ended_at"),
)


def export_studies(owner: Owner) -> Iterator[Row]:
    if owner.user is not None:
        yield from Study.objects.filter(owner=owner.user).order_by("pk").values(*COLUMNS).iterator()


def forget_studies(owner: Owner, pseudonym: str) -> None:
    if owner.user is not None:
        Study.objects.filter(owner=owner.user).delete()


PARTS = (Part("studies", export_studies, forget_studies),)
