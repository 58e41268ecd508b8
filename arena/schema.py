"""The shapes of `arena.shapes` as OpenAPI schemas, so that the API's description cannot drift from what is sent."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.plumbing import resolve_type_hint
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from arena.shapes import ErrorJson
from arena.visitors import COOKIE


class VisitorScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "arena.permissions.VisitorSession"
    name = "visitor"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": COOKIE, "description": "Set by `POST sessions/init`."}


def answer(shape: Any, description: str = "") -> OpenApiResponse:
    return OpenApiResponse(resolve_type_hint(shape), description)  # type: ignore[no-untyped-call]


def refusals(*statuses: int) -> dict[int, OpenApiResponse]:
    return {status: answer(ErrorJson, "`code` says why") for status in statuses}


def path_id(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, OpenApiParameter.PATH, description=description)


def body(**properties: dict[str, Any]) -> dict[str, Any]:
    """A JSON request body: property name -> schema; a property without a default is required."""
    required = [name for name, schema in properties.items() if "default" not in schema]
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {"application/json": {**schema, "required": required} if required else schema}
