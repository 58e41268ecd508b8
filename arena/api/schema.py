"""The shapes of `arena.shapes` as OpenAPI schemas, so that the API's description cannot drift from what is sent."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.plumbing import resolve_type_hint
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from arena import kinds
from arena.models import Judgement
from arena.shapes import ErrorJson
from arena.visitors.cookies import COOKIE


class VisitorScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "arena.visitors.permissions.VisitorSession"
    name = "visitor"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by `POST sessions/init`."}


def answer(shape: Any, description: str = "") -> OpenApiResponse:
    schema = resolve_type_hint(shape)  # type: ignore[no-untyped-call]
    _list_null(schema)
    _add_places(schema)
    return OpenApiResponse(schema, description)


def _list_null(schema: Any) -> None:
    """Where one of some words or nothing is sent, OpenAPI 3.0 wants nothing among the words."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    if isinstance(schema, dict) and schema.get("nullable") and None not in schema.get("enum", [None]):
        schema["enum"] = [*schema["enum"], None]
    for part in list(parts):
        _list_null(part)


def place_fields() -> dict[str, Any]:
    """Of a body that names a kind and a place: each kind has names of its own for the two parts of a place."""
    chosen = kinds.default()
    fields: dict[str, Any] = {"kind": {"type": "string", "enum": [k.id for k in kinds.every()], "default": chosen.id}}
    for kind in kinds.every():
        setting, scenes = next(iter(kind.places().items()))
        for name, first in zip(kind.names, (setting, scenes[0]), strict=True):
            fields.setdefault(name, {"type": "string", "default": first})
    return fields


def reasons_field() -> dict[str, Any]:
    names = {name for kind in kinds.every() for name in kind.reasons}
    properties = {name: {"type": "string", "enum": Judgement.values} for name in sorted(names)}
    return {"type": "object", "properties": properties, "additionalProperties": False, "default": {}}


def _add_places(schema: Any) -> None:
    """Whatever names its kind says its place too, by the names that the kind has for it."""
    parts = list(schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else [])
    for part in parts:
        _add_places(part)
    if isinstance(schema, dict) and isinstance(own := schema.get("properties"), dict) and "kind" in own:
        own.update({name: {"type": "string"} for kind in kinds.every() for name in kind.names})


def refusals(*statuses: int) -> dict[int, OpenApiResponse]:
    return {status: answer(ErrorJson, "`code` says why") for status in statuses}


UNFIT = (400, 403, 413, 415)
"""What any call with a body may be refused with: no JSON object, from another site, too large, of another kind."""


def path_id(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.PATH, description=description)


def body(**properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON request body: property name -> schema; a property without a default is required."""
    required = [name for name, schema in properties.items() if "default" not in schema]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {"application/json": {**schema, "required": required} if required else schema}
