"""A browser's end of a battle's socket, over the real channel layer."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

from channels.testing import WebsocketCommunicator

from arena.visitors.cookies import COOKIE
from tests.arena.conftest import Visitor
from vlaarena.asgi import application

Json = dict[str, Any]


class Socket:
    def __init__(self, visitor: Visitor | None, battle_id: str, origin: str = "http://testserver") -> None:
        headers = [(b"origin", origin.encode()), (b"host", b"testserver")]
        if visitor is not None and COOKIE in visitor.client.cookies:
            headers.append((b"cookie", f"{COOKIE}={visitor.client.cookies[COOKIE].value}".encode()))
        self.wire = WebsocketCommunicator(application, f"/ws/battles/{battle_id}/", headers=headers)

    async def __aenter__(self) -> Socket:
        self.connected, self.code = await self.wire.connect(timeout=5)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.wire.disconnect()

    async def next(self, timeout: float = 5) -> Json:
        message: Json = await self.wire.receive_json_from(timeout=timeout)
        return message

    async def until(self, event_type: str) -> list[Json]:
        """The messages up to the first of this type, that one included."""
        got = [await self.next()]
        while got[-1]["type"] != event_type:
            got.append(await self.next())
        return got

    async def is_silent(self) -> bool:
        return bool(await self.wire.receive_nothing(timeout=0.3))

    async def ask_for_snapshot(self) -> None:
        await self.wire.send_json_to({"type": "snapshot"})


async def settled(seconds: float = 0.2) -> None:
    """Let messages that are under way arrive."""
    await asyncio.sleep(seconds)
