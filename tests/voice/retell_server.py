"""A fake of Retell that speaks its documented wire: making, reading and deleting an LLM and an agent, registering and
reading a call, and the audio socket. REST and socket have one address, as Retell's have. Retell's own client is pointed
at it (test_official_clients.py)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection

from tests.voice.provider import FakeProvider, Json, Request, one_address, served

MADE_AT = 1_762_000_000_000
MADE: dict[str, Json] = {
    "/create-retell-llm": {"llm_id": "llm_1", "version": 0, "is_published": False},
    "/create-agent": {"agent_id": "agent_1", "version": 0, "is_published": False},
    "/register-call": {"call_id": "call_1", "call_status": "registered", "start_timestamp": MADE_AT},
}
"""Path -> what is new in the answer to it."""
NOT_FOUND: tuple[int, Json] = (404, {"status": "error", "message": "Not found"})


class FakeRetell(FakeProvider):
    """`refused`: paths that are answered with 401; `missing`: with 404."""

    def __init__(self, script: Sequence[Json | bytes | str], leaves: tuple[int, str] | None = None) -> None:
        super().__init__(script, leaves)
        self.refused: set[str] = set()
        self.missing: set[str] = set()

    def answer(self, request: Request) -> tuple[int, Json | list[Json]]:
        if request.path in self.refused:
            return 401, {"status": "error", "message": "Unauthorized"}
        if request.path in self.missing:
            return NOT_FOUND
        if request.method == "DELETE":
            return HTTPStatus.NO_CONTENT, {}
        if request.method == "GET":
            found = self._found(request.path)
            return (200, found) if found is not None else NOT_FOUND
        return (201, self._made(request)) if request.path in MADE else NOT_FOUND

    def _made(self, request: Request) -> Json:
        return {**request.body, **MADE[request.path], "last_modification_timestamp": MADE_AT}

    def _found(self, path: str) -> Json | list[Json] | None:
        """What was made, read again."""
        made = {each.path: self._made(each) for each in self.requests if each.method == "POST" and each.path in MADE}
        reads = {
            "/get-retell-llm/llm_1": made.get("/create-retell-llm"),
            "/get-agent/agent_1": made.get("/create-agent"),
            "/list-agents": [made["/create-agent"]] if "/create-agent" in made else [],
            "/v2/get-call/call_1": made.get("/register-call"),
        }
        return reads.get(path)

    async def replied(self, socket: ServerConnection, message: str) -> None:
        if message == "ping":
            await socket.send("pong")


@asynccontextmanager
async def fake_retell(*script: Any, leaves: tuple[int, str] | None = None) -> AsyncIterator[FakeRetell]:
    async with served(FakeRetell(script, leaves)) as fake, one_address(fake.address, fake.socket_address) as address:
        fake.address = address
        yield fake
