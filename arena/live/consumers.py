"""The socket of a battle: read-only. It forwards events, and shows both sides of a turn by the turn's one clock."""

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
from arena.live.held import SNAPSHOT, HeldBack
from arena.live.played import played
from arena.metrics import EVENTS, LATE, SOCKETS
from arena.models import Battle
from arena.visitors.cookies import visitor_of_scope
from arena.visitors.permissions import may_look

log = logging.getLogger(__name__)

NOT_FOUND = 4404
TOO_LARGE, TOO_MANY = 4413, 4429
TROUBLE = 1011
LONGEST_MESSAGE = 8192  # of a client, in characters or bytes; a question takes twenty
MOST_MESSAGES, WITHIN_S = 20, 10.0
Json = dict[str, Any]


class BattleConsumer(AsyncJsonWebsocketConsumer):
    """Sends a snapshot, then every event after it; on `{"type": "snapshot"}` another. All else is ignored.

    A client that sends a message longer than any question, or more than MOST_MESSAGES within WITHIN_S, is let go.

    What is heard of a turn before its clock says that it is shown waits here (`arena.live.held`): a task of the socket
    sends it in time. One thing is said at a time, so that a snapshot and what follows it come in their order.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.group: str | None = None
        self.held, self.news, self.speaking = HeldBack(kinds.default()), asyncio.Event(), asyncio.Lock()
        clock = asyncio.create_task(self._run_clock(), name="clock of a socket")
        try:
            with SOCKETS.track_inprogress():
                await super().__call__(scope, receive, send)
        finally:
            clock.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await clock

    async def connect(self) -> None:
        self.battle_id = self.scope["url_route"]["kwargs"]["battle_id"]
        self._bind_ids()
        self.seq = -1
        self.heard: deque[float] = deque(maxlen=MOST_MESSAGES)
        await self.accept()
        kind = await _kind_shown(self.scope, self.battle_id)
        if kind is None:
            log.info("socket refused")
            await self.close(code=NOT_FOUND)
            return
        self.kind, self.held = kind, HeldBack(kind)
        log.info("socket opened")
        self.group = events.group_of(self.battle_id)
        # Before the snapshot, so that nothing is missed between the two.
        await self.channel_layer.group_add(self.group, self.channel_name)
        async with self.speaking:
            await self._send_snapshot()
        self.news.set()

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
            async with self.speaking:
                await self._send_snapshot()
            self.news.set()

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

    async def battle_event(self, message: Json) -> None:
        event, at = message["event"], message["at"]
        async with self.speaking:
            if message["instead"]:
                self.held.drop_end(event["seq"])
            elif at is None and self.held.has_end:  # what comes after the end of a turn is known after it
                await self._tell_due(math.inf)
            if event["seq"] <= self.seq:
                if message["instead"]:  # it was told, at the very moment when something else took its place
                    await self._send_snapshot()
            elif at is not None:
                self.held.hold_end(_on_our_clock(at, release.buffer() + release.longest(self.kind)), event)
            else:
                await self._tell(event)
        self.news.set()

    async def side_chunks(self, message: Json) -> None:
        side = self.held.turn(message["turn_id"]).sides[message["side"]]
        side.hold(message["tries"], message["first"], message["chunks"])
        self.news.set()

    async def side_end(self, message: Json) -> None:
        self.held.turn(message["turn_id"]).sides[message["side"]].finish(message["tries"], message["length"])
        self.news.set()

    async def _run_clock(self) -> None:
        """Say what is held when it is due, until the socket closes."""
        try:
            while True:
                self.news.clear()
                at = self.held.next_at()
                wait = None if at is None else max(0.0, at - time.monotonic())
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await self.news.wait()
                async with self.speaking:
                    if self.group is not None:
                        await self._tell_due(time.monotonic())
        except Exception:
            log.exception("socket lost its clock")
            await self.close(code=TROUBLE)

    async def _tell_due(self, now: float) -> None:
        for message in self.held.due(now):
            if message is SNAPSHOT:
                await self._send_snapshot()
            elif "seq" not in message:
                await self._send(message)
            elif message["seq"] > self.seq:
                await self._tell(message)
        while self.held.late:
            LATE.observe(max(0.0, self.held.late.pop()))

    async def _tell(self, event: Json) -> None:
        """Send an event and note what it says about the turn's clock."""
        self.seq = event["seq"]
        await self._send(event)
        if event["type"] == "turn.opened" and not self.held.is_behind_another(event["turn"]["turn_id"]):
            self.held.open(event["turn"]["turn_id"], anew=True)
            if event["turn"]["status"] == "running":  # a side of it was played before
                await self._look_back(event["turn"]["turn_id"])
        elif event["type"] == "rollout.started":
            self.held.open(event["turn_id"])
            self._start(event["turn_id"], event["release_from"])
        elif event["type"] == "turn.finished":
            self.held.close(event["turn_id"])

    async def _send_snapshot(self) -> None:
        battle, news_at = await _snapshot(self.battle_id)
        self.seq = battle["seq"]
        await self._send({"type": "snapshot", "battle": battle})
        turn = next((turn for turn in battle["turns"] if turn["status"] not in ("completed", "failed")), None)
        if turn is None:
            self.held.forget()
            return
        if self.held.open(turn["turn_id"]):
            await self._look_back(turn["turn_id"])
        if turn["release_from"]:
            self._start(turn["turn_id"], turn["release_from"])
        if news_at is not None:
            self.held.hold_end(_on_our_clock(news_at.timestamp(), release.buffer() + release.longest(self.kind)))

    def _start(self, turn_id: str, release_from: str) -> None:
        turn, moment = self.held.turn(turn_id), datetime.fromisoformat(release_from).timestamp()
        if turn.began is None:
            turn.began = _on_our_clock(moment, release.buffer())

    async def _look_back(self, turn_id: str) -> None:
        """Hear what was played before this socket was there."""
        for each in await _played(turn_id):
            side = self.held.turn(turn_id).sides[each.side]
            if each.chunk is None:
                side.finish(each.tries, each.number)
            else:
                side.hold(each.tries, each.number, [each.chunk])

    async def _send(self, message: Json) -> None:
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


def _on_our_clock(moment: float, furthest: timedelta) -> float:
    """A moment (seconds since 1970) on the monotonic clock. It is never further away than it was when it was set, even
    if the time was set back since.
    """
    return time.monotonic() + min(moment - time.time(), furthest.total_seconds())


def _kind_of_visible(scope: Any, battle_id: str) -> Kind | None:
    """Of a battle at which this visitor may look."""
    if not is_public_id(battle_id):
        return None
    battle = Battle.objects.select_related("session").filter(battle_id=battle_id).first()
    if battle is None or not may_look(visitor_of_scope(scope), None, battle.session):
        return None
    return kinds.of(battle.session)


_kind_shown = database_sync_to_async(_kind_of_visible)
_snapshot = database_sync_to_async(selectors.snapshot)
_played = sync_to_async(played)
