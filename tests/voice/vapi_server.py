"""A fake of Vapi that speaks its documented wire: POST /call, GET of calls, and the websocket transport. Vapi's own
client is pointed at it (test_official_clients.py)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.voice.provider import FakeProvider, Json, Request, served


class FakeVapi(FakeProvider):
    def answer(self, request: Request) -> tuple[int, Json | list[Json]]:
        match request.method, request.path:
            case "POST", "/call":
                return 201, self._call(request)
            case "GET", "/call":
                return 200, [self._call(made) for made in self.made]
            case "GET", "/call/call-1" if self.made:
                return 200, self._call(self.made[-1])
        return 404, {"message": "Cannot find that", "statusCode": 404}

    @property
    def made(self) -> list[Request]:
        return [each for each in self.requests if (each.method, each.path) == ("POST", "/call")]

    def _call(self, request: Request) -> Json:
        return {
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
