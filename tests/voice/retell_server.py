"""A fake of Retell that speaks its documented wire: making and deleting an LLM and an agent, registering a call, and
the audio socket. REST and socket have one address, as Retell's have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection

from tests.voice.provider import FakeProvider, Json, Request, one_address, served

MADE_AT = 1_762_000_000_000


class FakeRetell(FakeProvider):
    """`refused`: paths that are answered with 401."""

    def __init__(self, script: Sequence[Json | bytes | str], leaves: tuple[int, str] | None = None) -> None:
        super().__init__(script, leaves)
        self.refused: set[str] = set()

    def answer(self, request: Request) -> tuple[int, Json]:
        if request.path in self.refused:
            return 401, {"status": "error", "message": "Unauthorized"}
        if request.method == "DELETE":
            return HTTPStatus.NO_CONTENT, {}
        made: dict[str, Json] = {
            "/create-retell-llm": {"llm_id": "llm_1", "version": 0, "is_published": False},
            "/create-agent": {"agent_id": "agent_1", "version": 0, "is_published": False},
            "/register-call": {"call_id": "call_1", "call_status": "registered", "start_timestamp": MADE_AT},
        }
        if request.path not in made:
            return 404, {"status": "error", "message": "Not found"}
        return 201, {**request.body, **made[request.path], "last_modification_timestamp": MADE_AT}

    async def replied(self, socket: ServerConnection, message: str) -> None:
        if message == "ping":
            await socket.send("pong")


@asynccontextmanager
async def fake_retell(*script: Any, leaves: tuple[int, str] | None = None) -> AsyncIterator[FakeRetell]:
    async with served(FakeRetell(script, leaves)) as fake, one_address(fake.address, fake.socket_address) as address:
        fake.address = address
        yield fake
