"""A fake of Vapi that speaks its documented wire: POST /call, and the websocket transport."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.voice.provider import FakeProvider, Json, Request, served


class FakeVapi(FakeProvider):
    def answer(self, request: Request) -> tuple[int, Json]:
        if (request.method, request.path) != ("POST", "/call"):
            return 404, {"message": "Cannot find that", "statusCode": 404}
        return 201, {
            "id": "call-1",
            "orgId": "org-1",
            "type": "vapi.websocketCall",
            "status": "queued",
            "createdAt": "2026-11-01T10:00:00.000Z",
            "updatedAt": "2026-11-01T10:00:00.000Z",
            "transport": {
                **request.body.get("transport", {}),
                "websocketCallUrl": f"{self.socket_address}/call-1/transport",
            },
        }


@asynccontextmanager
async def fake_vapi(*script: Json | bytes | str, leaves: tuple[int, str] | None = None) -> AsyncIterator[FakeVapi]:
    async with served(FakeVapi(script, leaves)) as fake:
        yield fake
