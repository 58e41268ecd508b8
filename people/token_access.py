"""Lets programs act for a user: `Authorization: Bearer TOKEN`, for calls of the API and for sockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from channels.db import database_sync_to_async
from channels.security.websocket import WebsocketDenier
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

from arena.errors import ArenaError
from arena.visitors.cookies import grant
from people.tokens import Access, access_by

SCHEME = "bearer"
API = "/api/"


class TokenAccess:
    """Middleware after that of logins. A token goes first: with one, cookies are neither read nor set."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        text = _token_in(request.headers.get("Authorization", "")) if request.path.startswith(API) else None
        if text is None:
            return self.get_response(request)
        try:
            access = access_by(text, request.method or "", request.path)
        except ArenaError as refusal:
            return _refused(refusal)
        grant(request, access.visitor)
        request.user = access.user or AnonymousUser()
        response = self.get_response(request)
        response.cookies.clear()
        return response


class TokenSockets:
    """ASGI middleware of sockets, which only read."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        header = next((value for name, value in scope["headers"] if name.lower() == b"authorization"), b"")
        text = _token_in(header.decode("latin-1"))
        if text is None:
            return await self._application(scope, receive, send)
        try:
            access: Access = await database_sync_to_async(access_by)(text, "GET")
        except ArenaError:
            return await WebsocketDenier()(scope, receive, send)
        granted = {**scope, "token_visitor": access.visitor}
        return await self._application(granted, receive, send)


def _token_in(header: str) -> str | None:
    """None for another scheme, or none."""
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() == SCHEME else None


def _refused(refusal: ArenaError) -> JsonResponse:
    response = JsonResponse(refusal.body(), status=refusal.status)
    response["Cache-Control"] = "no-store"
    if refusal.status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response
