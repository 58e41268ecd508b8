"""The socket of a battle: read-only. It forwards events, and keeps each side's live frames until both may be shown."""

from __future__ import annotations

import json
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from arena import events, selectors
from arena.models import Battle
from arena.permissions import may_look
from arena.serializers import is_public_id
from arena.visitors import visitor_of_scope

NOT_FOUND = 4404
SIDES = ("left", "right")
Row = list[float]


class BattleConsumer(AsyncJsonWebsocketConsumer):
    """Sends a snapshot, then every event after it; on `{"type": "snapshot"}` another. All else is ignored."""

    async def connect(self) -> None:
        self.battle_id = self.scope["url_route"]["kwargs"]["battle_id"]
        self.last_snapshot = -1
        self.held = HeldFrames()
        self.group = None
        await self.accept()
        if not await _may_look(self.scope, self.battle_id):
            await self.close(code=NOT_FOUND)
            return
        self.group = events.group_of(self.battle_id)
        # Before the snapshot, so that nothing is missed between the two.
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self._send_snapshot()

    async def disconnect(self, code: int) -> None:
        if self.group is not None:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        try:
            message = json.loads(text_data or "null")
        except (ValueError, RecursionError):
            return
        if isinstance(message, dict) and message.get("type") == "snapshot" and self.group is not None:
            await self._send_snapshot()

    async def battle_event(self, message: dict[str, Any]) -> None:
        event = message["event"]
        if event["seq"] <= self.last_snapshot:
            return
        if event["type"] == "rollout.frames":
            event = {**event, **self.held.release(event["turn_id"], event["from_step"], event["to_step"])}
        elif event["type"] == "turn.finished":
            self.held.forget(event["turn_id"])
        await self.send_json(event)

    async def side_frames(self, message: dict[str, Any]) -> None:
        self.held.hold(message["turn_id"], message["side"], message["from_step"], message["steps"])

    async def _send_snapshot(self) -> None:
        battle = await _snapshot(self.battle_id)
        self.last_snapshot = battle["seq"]
        await self.send_json({"type": "snapshot", "battle": battle})


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
    return battle is not None and may_look(visitor_of_scope(scope), is_staff=False, session=battle.session)


_may_look = database_sync_to_async(_visitor_may_look)
_snapshot = database_sync_to_async(selectors.snapshot)
