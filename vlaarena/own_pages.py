"""Accepts websockets from the site's own pages only, by the Origin header, which a page cannot change."""

from __future__ import annotations

from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

from arena.visitors import origins


class OwnPagesOnly:
    """ASGI middleware: denies a socket (403) unless its Origin has the site's scheme, host and port."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        application = self._application if is_own_page(scope) else WebsocketDenier()
        return await application(scope, receive, send)


def is_own_page(scope: dict[str, Any]) -> bool:
    """Whether the handshake comes from a page of the site. A browser sends Origin and Host exactly once."""
    source, host = _only(scope, b"origin"), _only(scope, b"host")
    if source is None or host is None or not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    return origins.is_own(source, secure=scope.get("scheme") == "wss", host=host)


def _only(scope: dict[str, Any], name: bytes) -> str | None:
    found = [value for key, value in scope["headers"] if key.lower() == name]
    return found[0].decode("latin1") if len(found) == 1 else None
