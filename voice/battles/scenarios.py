"""The scenarios that can be chosen: those of the files, as they were edited in the admin, and those added there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from django.conf import settings
from django.db import DatabaseError

from voice.models import VOICE, ScenarioRow
from voice.scenarios.model import CATEGORIES
from voice.scenarios.reading import shipped


@cache
def _in_files() -> Mapping[str, tuple[str, str]]:
    return {each.id: (each.category, each.name) for each in shipped().values()}


def known() -> Mapping[str, tuple[str, str]]:
    """Every scenario -> its category and its name. Without voice in ARENA_KINDS the database is not asked."""
    if VOICE not in settings.KINDS:
        return _in_files()
    return {**_in_files(), **{pk: (category, name) for pk, category, name in _rows()}}


def _rows() -> list[tuple[str, str, str]]:
    """None before the migrations have run: the description of the API asks for places when it is imported."""
    try:
        return list(ScenarioRow.objects.order_by("pk").values_list("pk", "category", "name"))
    except DatabaseError:
        return []


def by_category() -> dict[str, tuple[str, ...]]:
    """Category -> its scenarios."""
    found = known()
    return {name: tuple(pk for pk, (category, _) in found.items() if category == name) for name in CATEGORIES}
