"""The public socket of games that are being played. It only passes on."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from arena.metrics import SOCKETS
from wormarena.live import telling

NOTHING_TO_SAY = 4400
"""Closes the socket of a client that sends anything: nothing is expected."""


class LiveConsumer(AsyncJsonWebsocketConsumer):
    """Sends `{"type": "snapshot", "games": [...]}`, then `{"type": "game", "game": ...}` after each round of a game."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        with SOCKETS.track_inprogress():
            await super().__call__(scope, receive, send)

    async def connect(self) -> None:
        await self.accept()
        await self.channel_layer.group_add(telling.GROUP, self.channel_name)
        await self.send_json({"type": "snapshot", "games": await sync_to_async(telling.shown_now)()})

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(telling.GROUP, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        await self.close(code=NOTHING_TO_SAY)

    async def worm_game(self, message: dict[str, Any]) -> None:
        await self.send_json({"type": "game", "game": message["game"]})
