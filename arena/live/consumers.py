"""The read-only socket of a battle. It forwards events, and sends the chunks of a turn by the turn's clock."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import time
from collections import deque
from datetime import datetime, timedelta
from typing import Any

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer, AsyncWebsocketConsumer
from structlog.contextvars import bind_contextvars, clear_contextvars

from arena import kinds, selectors
from arena.api.serializers import is_public_id
from arena.ids import new_id
from arena.kinds import Kind
from arena.live import events, release
from arena.live.chunk_cache import Passed, kept_of
from arena.live.chunk_feed import feed
from arena.live.playout import SNAPSHOT, PlayoutBuffer
from arena.metrics import EVENTS, LATE, SOCKETS
from arena.models import Battle
from arena.visitors.cookies import visitor_of_scope
from arena.visitors.permissions import may_look

log = logging.getLogger(__name__)

NOT_FOUND = 4404
TOO_LARGE, TOO_MANY = 4413, 4429
INTERNAL_ERROR = 1011
LONGEST_MESSAGE = 8192  # from a client, in characters or bytes
MOST_MESSAGES, WITHIN_S = 20, 10.0
Json = dict[str, Any]


class BattleConsumer(AsyncJsonWebsocketConsumer):
    """Sends a snapshot, then every event after it, and another snapshot on `{"type": "snapshot"}`.

    Other messages are ignored. Disconnects a client that sends a message longer than LONGEST_MESSAGE, or more than
    MOST_MESSAGES within WITHIN_S.

    Chunks and ends that the turn's clock does not show yet wait in a buffer (`arena.live.playout`), from which a task
    of the socket sends them in time. The lock `sending` keeps a snapshot and what follows it in order.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.group: str | None = None
        self.battle_id: str = scope["url_route"]["kwargs"]["battle_id"]
        self.buffer, self.changed, self.sending = PlayoutBuffer(kinds.default()), asyncio.Event(), asyncio.Lock()
        clock = asyncio.create_task(self._run_clock(), name="clock of a socket")
        try:
            with SOCKETS.track_inprogress():
                await super().__call__(scope, receive, send)
        finally:
            await feed().leave(self.battle_id, self)
            clock.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await clock

    async def connect(self) -> None:
        clear_contextvars()  # the log lines of a socket have ids of their own, and it is served by a task of its own
        bind_contextvars(request_id=new_id("req"))
        if is_public_id(self.battle_id):
            bind_contextvars(battle_id=self.battle_id)
        self.seq = -1
        self.received_at: deque[float] = deque(maxlen=MOST_MESSAGES)
        await self.accept()
        kind = await _visible_kind(self.scope, self.battle_id)
        if kind is None:
            log.info("socket refused")
            await self.close(code=NOT_FOUND)
            return
        self.kind, self.buffer = kind, PlayoutBuffer(kind)
        log.info("socket opened")
        self.group = events.group_of(self.battle_id)
        # Before the snapshot, so that no event is missed between the two.
        await self.channel_layer.group_add(self.group, self.channel_name)
        await feed().join(self.battle_id, self)
        async with self.sending:
            await self._send_snapshot()
        self.changed.set()

    async def disconnect(self, code: int) -> None:
        if self.group is not None:
            log.info("socket closed", extra={"code": code})
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        if self.group is None:
            return
        if len(text_data or bytes_data or "") > LONGEST_MESSAGE:
            await self._disconnect_client(TOO_LARGE)
        elif self._is_flooded():
            await self._disconnect_client(TOO_MANY)
        elif _asks_for_snapshot(text_data):
            async with self.sending:
                await self._send_snapshot()
            self.changed.set()

    def _is_flooded(self) -> bool:
        """Count a message. Returns whether it is one more than MOST_MESSAGES within WITHIN_S."""
        now = time.monotonic()
        flooded = len(self.received_at) == MOST_MESSAGES and now - self.received_at[0] < WITHIN_S
        self.received_at.append(now)
        return flooded

    async def _disconnect_client(self, code: int) -> None:
        log.warning("socket disconnected", extra={"code": code})
        if self.group is not None:
            await self.channel_layer.group_discard(self.group, self.channel_name)
        self.group = None
        await self.close(code=code)

    async def battle_event(self, message: Json) -> None:
        event, at = message["event"], message["at"]
        async with self.sending:
            if message["instead"]:
                self.buffer.drop_end(event["seq"])
            elif at is None and self.buffer.has_end:  # the end of the turn comes before this event
                await self._send_due(math.inf)
            if event["seq"] <= self.seq:
                if message["instead"]:  # the replaced event was sent at the same moment
                    await self._send_snapshot()
            elif at is not None:
                self.buffer.add_end(_on_our_clock(at, release.buffer() + release.longest(self.kind)), event)
            else:
                await self._send_event(event)
        self.changed.set()

    def take(self, passed: Passed) -> None:
        """Of `arena.live.chunk_feed`."""
        self.buffer.take(passed)
        self.changed.set()

    async def catch_up(self) -> None:
        for turn_id in self.buffer.turn_ids:
            await self._read_cached(turn_id)
        self.changed.set()

    async def _run_clock(self) -> None:
        """Send what is in the buffer when it is due, until the socket closes."""
        try:
            while True:
                self.changed.clear()
                at = self.buffer.next_at()
                wait = None if at is None else max(0.0, at - time.monotonic())
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self.changed.wait()
                async with self.sending:
                    if self.group is not None:
                        await self._send_due(time.monotonic())
        except Exception:
            log.exception("the clock of a socket failed")
            await self.close(code=INTERNAL_ERROR)

    async def _send_due(self, now: float) -> None:
        for message in self.buffer.due(now):
            if message is SNAPSHOT:
                await self._send_snapshot()
            elif "seq" not in message:
                await self._send(message)
            elif message["seq"] > self.seq:
                await self._send_event(message)
        while self.buffer.late:
            LATE.observe(max(0.0, self.buffer.late.pop()))

    async def _send_event(self, event: Json) -> None:
        """Send an event and apply it to the buffer."""
        self.seq = event["seq"]
        await self._send(event)
        if event["type"] == "turn.opened" and not self.buffer.is_behind_another(event["turn"]["turn_id"]):
            unknown = self.buffer.open(event["turn"]["turn_id"], anew=True)
            if not unknown or event["turn"]["status"] == "running":  # a side of it was played before, or is quick
                await self._read_cached(event["turn"]["turn_id"])
        elif event["type"] == "rollout.started":
            self.buffer.open(event["turn_id"])
            self._start(event["turn_id"], event["release_from"])
        elif event["type"] == "turn.finished":
            self.buffer.close(event["turn_id"])

    async def _send_snapshot(self) -> None:
        battle, end_at = await _snapshot(self.battle_id)
        self.seq = battle["seq"]
        await self._send({"type": "snapshot", "battle": battle})
        turn = next((turn for turn in battle["turns"] if turn["status"] not in ("completed", "failed")), None)
        if turn is None:
            self.buffer.forget()
            return
        if self.buffer.open(turn["turn_id"]):
            await self._read_cached(turn["turn_id"])
        if turn["release_from"]:
            self._start(turn["turn_id"], turn["release_from"])
        if end_at is not None:
            self.buffer.add_end(_on_our_clock(end_at.timestamp(), release.buffer() + release.longest(self.kind)))

    def _start(self, turn_id: str, release_from: str) -> None:
        turn, moment = self.buffer.turn(turn_id), datetime.fromisoformat(release_from).timestamp()
        if turn.began is None:
            turn.began = _on_our_clock(moment, release.buffer())

    async def _read_cached(self, turn_id: str) -> None:
        """Take the chunks that were played before this socket opened."""
        for each in await _kept_of(self.battle_id, turn_id):
            self.buffer.take(each)

    async def _send(self, message: Json) -> None:
        await self.send_json(message)
        EVENTS.labels(message["type"]).inc()


class UnknownAddress(AsyncWebsocketConsumer):
    """Closes sockets to any other address."""

    async def connect(self) -> None:
        await self.close(code=NOT_FOUND)


def _asks_for_snapshot(text: str | None) -> bool:
    try:
        message = json.loads(text or "null")
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and message.get("type") == "snapshot"


def _on_our_clock(moment: float, furthest: timedelta) -> float:
    """A moment (seconds since 1970) on the monotonic clock, at most `furthest` away: the system time may have been set
    back since."""
    return time.monotonic() + min(moment - time.time(), furthest.total_seconds())


def _visible_kind_of(scope: Any, battle_id: str) -> Kind | None:
    """The kind of a battle that this visitor may see, else None."""
    if not is_public_id(battle_id):
        return None
    battle = Battle.objects.select_related("session").filter(battle_id=battle_id).first()
    if battle is None or not may_look(visitor_of_scope(scope), None, battle.session):
        return None
    return kinds.of(battle.session)


_visible_kind = database_sync_to_async(_visible_kind_of)
_snapshot = database_sync_to_async(selectors.snapshot)
_kept_of = sync_to_async(kept_of)
