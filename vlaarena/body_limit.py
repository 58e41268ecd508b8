"""Limits on request bodies: larger ones are refused with 413 before a view sees them, and file uploads with 400."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.files.uploadhandler import FileUploadHandler

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class CountedBody:
    """A `receive` that reports a disconnect after more than `most` bytes, so that the application drops the body."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self._most, self._got = receive, most, 0

    @property
    def too_large(self) -> bool:
        return self._got > self._most

    async def __call__(self) -> Message:
        message = await self._receive()
        self._got += len(message.get("body", b""))
        return {"type": "http.disconnect"} if self.too_large else message


class BodyLimit:
    """ASGI middleware: at most settings.DATA_UPLOAD_MAX_MEMORY_SIZE bytes per body."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        most = int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        counted = CountedBody(receive, most)
        too_large = _content_length(scope) > most
        if not too_large:
            await self.app(scope, counted, send)
        if too_large or counted.too_large:
            await _refuse(send, most)


def _content_length(scope: Scope) -> int:
    """What the header announces; 0 without a usable one."""
    values = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(values[0]) if values and values[0].isdigit() else 0


async def _refuse(send: Send, most: int) -> None:
    detail = f"A body may have at most {most} bytes."
    body = json.dumps({"code": "too_large", "detail": detail}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"connection", b"close"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class NoUploads(FileUploadHandler):
    """Upload handler that refuses every form with a file (400)."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        raise BadRequest("file uploads are not accepted")
