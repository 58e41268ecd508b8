"""The rows of a backup as JSON lines, written from and loaded into the models of any release."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import IO, Any, TypeAlias

from django.apps.registry import Apps
from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.core.serializers.json import DjangoJSONEncoder
from django.core.serializers.jsonl import Deserializer
from django.db import connection, models

# Recreated by migrations, useless elsewhere, or due to be deleted: a copy would outlive its expiry.
LEFT_OUT = {"contenttypes.ContentType", "auth.Permission", "sessions.Session", "arena.NetworkKey"}
Relation: TypeAlias = "models.ForeignKey[Any, Any] | models.ManyToManyField[Any, Any]"
Open = Callable[[str], IO[bytes]]
"""Opens the JSON lines of a table, named by APP.MODEL."""


class ExactTimes(DjangoJSONEncoder):
    """Times to the microsecond. Django's encoder truncates them to milliseconds."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


def tables(apps: Apps) -> list[type[models.Model]]:
    """Every table to keep, in a stable order: accounts first, since other rows refer to them."""
    found = [model for model in apps.get_models() if model._meta.label not in LEFT_OUT and model._meta.managed]
    return sorted(found, key=lambda model: (model._meta.app_label != "auth", model._meta.label))


def lines(model: type[models.Model]) -> Iterator[bytes]:
    """One JSON line per row, by primary key."""
    rows = model._base_manager.order_by("pk").iterator(chunk_size=500)
    for row in rows:
        yield serializers.serialize("jsonl", [row], use_natural_foreign_keys=True, cls=ExactTimes).encode()


def load(apps: Apps, opened: Open) -> None:
    """Replace the rows that a new arena is seeded with. Foreign keys are checked once, at the end."""
    kept = tables(apps)
    for model in apps.get_models(include_auto_created=True):  # join tables included
        if model._meta.label not in LEFT_OUT and model._meta.managed:
            model._base_manager.all()._raw_delete(using="default")
    for model in kept:
        with io.TextIOWrapper(opened(model._meta.label), "utf-8") as stream:
            for row in Rows(apps, stream):
                row.save()
    connection.check_constraints()
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), kept):
            cursor.execute(statement)


class Rows(Deserializer):
    """Deserialises rows into the models of any release, where Django's own class uses the current ones.

    Accounts, content types and permissions are referred to by natural key. Content types and permissions are created
    where they are missing: a permission on a deleted model may still be granted, as after an upgrade in place.
    """

    def __init__(self, apps: Apps, stream: IO[str]) -> None:
        super().__init__(stream)
        self._apps = apps

    def _get_model_from_node(self, model_identifier: str) -> type[models.Model]:
        try:
            return self._apps.get_model(model_identifier)
        except (LookupError, TypeError, AttributeError, ValueError):
            raise DeserializationError(f"there is no table {model_identifier!r}") from None

    def _handle_fk_field_node(self, field: Relation, field_value: Any) -> Any:
        return self._key(field, field_value) if isinstance(field_value, list) else field.to_python(field_value)

    def _handle_m2m_field_node(self, field: Relation, field_value: Any) -> Any:
        return [self._key(field, value) if isinstance(value, list) else value for value in field_value]

    def _key(self, field: Relation, names: list[str]) -> int:
        """The primary key of the row with this natural key."""
        match field.related_model._meta.label, names:
            case "auth.User", [username]:
                return self._one("auth.User", username=username)
            case "auth.Group", [name]:
                return self._one("auth.Group", name=name)
            case "auth.Permission", [codename, app, model]:
                content_type = self._created("contenttypes.ContentType", app_label=app, model=model)
                return self._created("auth.Permission", codename=codename, content_type_id=content_type)
            case "contenttypes.ContentType", [app, model]:
                return self._created("contenttypes.ContentType", app_label=app, model=model)
        raise DeserializationError(f"{field}: {names!r} matches no row")

    def _one(self, label: str, **names: str) -> int:
        return int(self._apps.get_model(label)._base_manager.get(**names).pk)

    def _created(self, label: str, **names: str | int) -> int:
        return int(self._apps.get_model(label)._base_manager.get_or_create(**names)[0].pk)
