"""The socket of a battle: read-only. It forwards events, and keeps each side's live frames until both may be shown."""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer, AsyncWebsocketConsumer
from structlog.contextvars import bind_contextvars, clear_contextvars

from arena import events, selectors
from arena.ids import new_id
from arena.instruments import EVENTS, SOCKETS
from arena.models import Battle
from arena.permissions import may_look
from arena.serializers import is_public_id
from arena.visitors import visitor_of_scope

log = logging.getLogger(__name__)

NOT_FOUND = 4404
TOO_LARGE, TOO_MANY = 4413, 4429
LONGEST_MESSAGE = 8192  # of a client, in characters or bytes; a question takes twenty
MOST_MESSAGES, WITHIN_S = 20, 10.0
SIDES = ("left", "right")
Row = list[float]


class BattleConsumer(AsyncJsonWebsocketConsumer):
    """Sends a snapshot, then every event after it; on `{"type": "snapshot"}` another. All else is ignored.

    Who sends a message longer than any question, or more than MOST_MESSAGES within WITHIN_S, is let go.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        with SOCKETS.track_inprogress():
            await super().__call__(scope, receive, send)

    async def connect(self) -> None:
        self.battle_id = self.scope["url_route"]["kwargs"]["battle_id"]
        self._bind_ids()
        self.last_snapshot = -1
        self.held = HeldFrames()
        self.group = None
        self.heard: deque[float] = deque(maxlen=MOST_MESSAGES)
        await self.accept()
        if not await _may_look(self.scope, self.battle_id):
            log.info("socket refused")
            await self.close(code=NOT_FOUND)
            return
        log.info("socket opened")
        self.group = events.group_of(self.battle_id)
        # Before the snapshot, so that nothing is missed between the two.
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self._send_snapshot()

    async def disconnect(self, code: int) -> None:
        if self.group is not None:
            log.info("socket closed", extra={"code": code})
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        if self.group is None:
            return
        if len(text_data or bytes_data or "") > LONGEST_MESSAGE:
            await self._let_go(TOO_LARGE)
        elif self._is_flooded():
            await self._let_go(TOO_MANY)
        elif _is_question(text_data):
            await self._send_snapshot()

    def _is_flooded(self) -> bool:
        """Count a message; whether as many came in so short a time before it."""
        now = time.monotonic()
        flooded = len(self.heard) == MOST_MESSAGES and now - self.heard[0] < WITHIN_S
        self.heard.append(now)
        return flooded

    async def _let_go(self, code: int) -> None:
        log.warning("socket let go", extra={"code": code})
        if self.group is not None:
            await self.channel_layer.group_discard(self.group, self.channel_name)
        self.group = None
        await self.close(code=code)

    async def battle_event(self, message: dict[str, Any]) -> None:
        event = message["event"]
        if event["seq"] <= self.last_snapshot:
            return
        if event["type"] == "rollout.frames":
            event = {**event, **self.held.release(event["turn_id"], event["from_step"], event["to_step"])}
        elif event["type"] == "turn.finished":
            self.held.forget(event["turn_id"])
        await self._send(event)

    async def side_frames(self, message: dict[str, Any]) -> None:
        self.held.hold(message["turn_id"], message["side"], message["from_step"], message["steps"])

    async def _send_snapshot(self) -> None:
        battle = await _snapshot(self.battle_id)
        self.last_snapshot = battle["seq"]
        await self._send({"type": "snapshot", "battle": battle})

    async def _send(self, message: dict[str, Any]) -> None:
        await self.send_json(message)
        EVENTS.labels(message["type"]).inc()

    def _bind_ids(self) -> None:
        """For the lines of this socket, which is served by a task of its own."""
        clear_contextvars()
        bind_contextvars(request_id=new_id("req"))
        if is_public_id(self.battle_id):
            bind_contextvars(battle_id=self.battle_id)


class Nowhere(AsyncWebsocketConsumer):
    """What a socket to any other address finds."""

    async def connect(self) -> None:
        await self.close(code=NOT_FOUND)


def _is_question(text: str | None) -> bool:
    try:
        message = json.loads(text or "null")
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and message.get("type") == "snapshot"


class HeldFrames:
    """Steps that one side has played and the other, perhaps, not yet."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, str], dict[int, Row]] = {}

    def hold(self, turn_id: str, side: str, from_step: int, steps: list[Row]) -> None:
        """`steps`: rows `[time, ...qpos]`, the first of them for step `from_step`."""
        self._steps.setdefault((turn_id, side), {}).update(enumerate(steps, from_step))

    def release(self, turn_id: str, from_step: int, to_step: int) -> dict[str, dict[str, list[Row]]]:
        """What is held of both sides, `from_step` and `to_step` included. A side that ended earlier has fewer."""
        return {side: {"steps": self._take((turn_id, side), from_step, to_step)} for side in SIDES}

    def _take(self, key: tuple[str, str], from_step: int, to_step: int) -> list[Row]:
        held = self._steps.get(key, {})
        return [held.pop(step) for step in range(from_step, to_step + 1) if step in held]

    def forget(self, turn_id: str) -> None:
        for side in SIDES:
            self._steps.pop((turn_id, side), None)


def _visitor_may_look(scope: Any, battle_id: str) -> bool:
    if not is_public_id(battle_id):
        return False
    battle = Battle.objects.select_related("session").filter(battle_id=battle_id).first()
    return battle is not None and may_look(visitor_of_scope(scope), None, battle.session)


_may_look = database_sync_to_async(_visitor_may_look)
_snapshot = database_sync_to_async(selectors.snapshot)
