"""OpenAPI schemas made from the shapes of `arena.shapes`, so that the API's description matches what is sent."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.plumbing import resolve_type_hint
from drf_spectacular.utils import OpenApiResponse

from arena import kinds
from arena.models import WHOLE_WAY, Judgement, Side
from arena.shapes import ErrorJson
from arena.visitors.cookies import COOKIE


class VisitorScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "arena.visitors.permissions.VisitorSession"
    name = "visitor"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by `POST sessions/init`."}


def answer(shape: Any, description: str = "") -> OpenApiResponse:
    """The schema of a response of this shape."""
    schema = resolve_type_hint(shape)  # type: ignore[no-untyped-call]
    _complete(schema)
    return OpenApiResponse(schema, description)


def _complete(schema: Any) -> None:
    """Add null to the values of nullable enums, as OpenAPI 3.0 demands. Beside each `kind` add the parts of its place,
    unless the shape has them as `setting` and `scene`."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else []
    for part in list(parts):
        _complete(part)
    if not isinstance(schema, dict):
        return
    if schema.get("nullable") and None not in schema.get("enum", [None]):
        schema["enum"] = [*schema["enum"], None]
    if isinstance(own := schema.get("properties"), dict) and "kind" in own and "setting" not in own:
        own.update({name: {"type": "string"} for kind in kinds.every() for name in kind.names})


def place_fields() -> dict[str, Any]:
    """The fields of a body that names a kind and a place. Each kind has its own names for the two parts of a place."""
    chosen = kinds.default()
    fields: dict[str, Any] = {"kind": {"type": "string", "enum": [k.id for k in kinds.offered()], "default": chosen.id}}
    for kind in kinds.every():
        setting, scenes = next(iter(kind.places().items()))
        for name, first in zip(kind.names, (setting, scenes[0]), strict=True):
            fields.setdefault(name, {"type": "string", "default": first})
    return fields


def reasons_field() -> dict[str, Any]:
    names = sorted({name for kind in kinds.every() for name in kind.reasons})
    properties = {name: {"type": "string", "enum": Judgement.values} for name in names}
    return {"type": "object", "properties": properties, "additionalProperties": False, "default": {}}


def progress_field() -> dict[str, Any]:
    share = {"type": "integer", "minimum": 0, "maximum": WHOLE_WAY, "nullable": True}
    properties = dict.fromkeys(Side.values, share)
    return {"type": "object", "properties": properties, "additionalProperties": False, "default": {}}


def refusals(*statuses: int) -> dict[int, OpenApiResponse]:
    return {status: answer(ErrorJson, "`code` says why") for status in statuses}


BODY_REFUSED = (400, 403, 413, 415)
"""The errors of any call with a body: no JSON object, from another site, too large, not JSON."""


def body(**properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON request body: property name -> schema. A property without a default is required."""
    required = [name for name, schema in properties.items() if "default" not in schema]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {"application/json": {**schema, "required": required} if required else schema}
