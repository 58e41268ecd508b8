"""The chunks of turns on their way from whoever plays to the sockets that show them.

They go around the channel layer, which takes four requests to its server for every message and socket: all chunks of
one moment are one message, which every process with open sockets receives once. Whoever opens late reads what is kept
of the turn (`arena.live.chunk_cache`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import msgpack
import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.client import PubSub

from arena.live import chunk_cache
from arena.live.chunk_cache import Passed

log = logging.getLogger(__name__)
CONNECT_S, PAUSE_S = 2.0, 0.5
QUIET_S = 5.0
"""After so long without a word the server is asked for a sign of life, and after as long again it is taken for lost."""
FAULTS = (redis.RedisError, OSError)


class Listener(Protocol):
    """An open socket."""

    def take(self, passed: Passed) -> None:
        """Called on the loop of the feed."""

    def catch_up(self) -> Coroutine[Any, Any, None]:
        """The feed was interrupted: read what was missed."""


def send(passed: Sequence[Passed]) -> None:
    """Keep these chunks, and send them to all sockets. If the server is down, both are left out."""
    try:
        with chunk_cache.client().pipeline(transaction=False) as pipeline:
            chunk_cache.keep(pipeline, passed)
            pipeline.publish(_channel(), msgpack.packb(passed))
            pipeline.execute()
    except FAULTS as error:
        log.warning("Chunks of %s reached no socket: %r", ", ".join(sorted({each.turn_id for each in passed})), error)


class ChunkFeed:
    """What `send` sends, for the sockets of one event loop. Connected while there are any."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[Listener]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._subscribed = asyncio.Event()
        self._catching_up: set[asyncio.Task[None]] = set()

    async def join(self, battle_id: str, listener: Listener) -> None:
        """Raises TimeoutError while the server is down. Afterwards the listener gets all that is sent of the battle."""
        self._listeners[battle_id].add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="chunk feed")
        async with asyncio.timeout(CONNECT_S):
            await self._subscribed.wait()

    async def leave(self, battle_id: str, listener: Listener) -> None:
        """Also one that has not joined, or has left."""
        self._listeners[battle_id].discard(listener)
        if not self._listeners[battle_id]:
            del self._listeners[battle_id]
        if not self._listeners and self._task is not None:
            task, self._task = self._task, None
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        interrupted = False
        while True:
            try:
                await self._receive(interrupted)
            except FAULTS as error:
                log.warning("The feed of chunks is interrupted: %r", error)
            except Exception:  # the edge of the task, on which every socket depends
                log.exception("The feed of chunks is interrupted")
            finally:
                self._subscribed.clear()
            interrupted = True
            await asyncio.sleep(PAUSE_S)

    async def _receive(self, interrupted: bool) -> None:
        connected = redis.asyncio.Redis.from_url(
            settings.CHANNEL_URL, socket_timeout=None, socket_connect_timeout=CONNECT_S
        )
        async with connected, connected.pubsub() as subscription:
            await subscription.subscribe(_channel())
            async for message in _heard(subscription):
                if message["type"] == "message":
                    self._hand_out(message["data"])
                elif message["type"] == "subscribe":
                    self._subscribed.set()
                    if interrupted:
                        self._let_all_catch_up()

    def _hand_out(self, data: bytes) -> None:
        for passed in map(Passed._make, msgpack.unpackb(data)):
            for listener in self._listeners.get(passed.battle_id, ()):
                listener.take(passed)

    def _let_all_catch_up(self) -> None:
        for listener in _all(self._listeners.values()):
            task = asyncio.create_task(listener.catch_up())
            self._catching_up.add(task)
            task.add_done_callback(self._catching_up.discard)


async def _heard(subscription: PubSub) -> AsyncIterator[dict[str, Any]]:
    """What the server says, the answers to pings included. Raises redis.TimeoutError for one that is silent."""
    asked = False
    while True:
        message = await subscription.get_message(timeout=QUIET_S)
        if message is not None:
            asked = False
            yield message
        elif asked:
            raise redis.TimeoutError(f"no sign of life within {QUIET_S:g} s")
        else:
            await subscription.ping()
            asked = True


def _all(sets: Iterable[set[Listener]]) -> list[Listener]:
    return [listener for each in sets for listener in each]


def _channel() -> str:
    """Arenas that share a server and a prefix hear of each other's battles, of which none of their sockets is."""
    return f"{settings.PREFIX}chunks"


_feeds: WeakKeyDictionary[asyncio.AbstractEventLoop, ChunkFeed] = WeakKeyDictionary()


def feed() -> ChunkFeed:
    """That of the running loop."""
    return _feeds.setdefault(asyncio.get_running_loop(), ChunkFeed())
