"""Chunks on their way to sockets: all of one moment in one message, to the sockets of their battle alone. Nothing is
missed where the subscription breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from asgiref.sync import sync_to_async

from arena.live import chunk_cache, chunk_feed
from arena.live.chunk_cache import Passed
from arena.live.chunk_feed import ChunkFeed, feed


class Listener:
    def __init__(self) -> None:
        self.heard: list[Passed] = []
        self.caught_up = 0

    def take(self, passed: Passed) -> None:
        self.heard.append(passed)

    async def catch_up(self) -> None:
        self.caught_up += 1


def chunk(battle_id: str, number: int, side: str = "left") -> Passed:
    return Passed(battle_id, f"turn of {battle_id}", side, 1, number, [b"word", b"\xff\x00"])


async def until(what: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not what():
            await asyncio.sleep(0.02)


send = sync_to_async(chunk_feed.send)


async def test_each_socket_gets_what_is_of_its_battle_from_one_message() -> None:
    one, other, gone = Listener(), Listener(), Listener()
    await feed().join("one", one)
    await feed().join("other", other)
    await feed().join("other", gone)
    await feed().leave("other", gone)
    end = Passed("one", "turn of one", "right", 2, 75, None)
    await send([chunk("one", 0), chunk("other", 3, "right"), end, chunk("nobody's", 1)])
    await until(lambda: len(one.heard) == 2 and other.heard)
    assert one.heard == [chunk("one", 0), end]
    assert other.heard == [chunk("other", 3, "right")]
    assert gone.heard == []
    await feed().leave("one", one)
    await feed().leave("other", other)


async def test_what_was_sent_is_kept_for_sockets_that_open_late() -> None:
    end = Passed("late", "turn of late", "left", 1, 2, None)
    await send([chunk("late", 0), end])
    kept = await sync_to_async(chunk_cache.kept_of)("late", "turn of late")
    assert kept == [chunk("late", 0)._replace(chunks=[b"word"]), chunk("late", 1)._replace(chunks=[b"\xff\x00"]), end]


async def test_a_subscription_that_breaks_is_made_anew_and_its_sockets_catch_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chunk_feed, "PAUSE_S", 0.05)
    listener = Listener()
    await feed().join("cut", listener)
    await sync_to_async(chunk_cache.client().client_kill_filter)(_type="pubsub")
    await until(lambda: listener.caught_up)
    await send([chunk("cut", 5)])
    await until(lambda: listener.heard)
    assert listener.heard == [chunk("cut", 5)]
    await feed().leave("cut", listener)


class Silent:
    """Between the feed and the server: of the first connection it passes nothing on any more once `silent` is set."""

    def __init__(self, url: str) -> None:
        self.host, self.port = urlsplit(url).hostname, urlsplit(url).port
        self.silent, self.connections = False, 0
        self._writers: list[asyncio.StreamWriter] = []

    async def serve(self) -> int:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
            await writer.wait_closed()
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        first = self.connections == 1
        there, back = await asyncio.open_connection(self.host, self.port)
        self._writers += [writer, back]
        await asyncio.gather(self._pass(reader, back, first), self._pass(there, writer, first))

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, first: bool) -> None:
        while data := await source.read(65536):
            if not (first and self.silent):
                target.write(data)


async def test_a_server_that_falls_silent_is_noticed_and_one_that_has_nothing_to_say_is_not_left(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_feed, "QUIET_S", 0.3)
    monkeypatch.setattr(chunk_feed, "PAUSE_S", 0.05)
    real = settings.CHANNEL_URL
    between, own, listener = Silent(real), ChunkFeed(), Listener()
    settings.CHANNEL_URL = urlsplit(real)._replace(netloc=_on_port(real, await between.serve())).geturl()
    await own.join("quiet", listener)
    await asyncio.sleep(1.5)
    assert between.connections == 1
    between.silent = True
    await until(lambda: listener.caught_up)
    settings.CHANNEL_URL = real
    await send([chunk("quiet", 7)])
    await until(lambda: listener.heard)
    assert listener.heard == [chunk("quiet", 7)]
    await own.leave("quiet", listener)
    await between.close()


def _on_port(url: str, port: int) -> str:
    login, sign, _ = urlsplit(url).netloc.rpartition("@")
    return f"{login}{sign}127.0.0.1:{port}"


async def test_nothing_runs_without_sockets_and_leaving_twice_does_nothing() -> None:
    def running() -> list[Any]:
        return [task for task in asyncio.all_tasks() if task.get_name() == "chunk feed"]

    listener = Listener()
    await feed().leave("one", listener)
    await feed().join("one", listener)
    assert len(running()) == 1
    await feed().leave("one", listener)
    await feed().leave("one", listener)
    assert running() == []
    await feed().join("one", listener)  # and it begins again
    await send([chunk("one", 0)])
    await until(lambda: listener.heard)
    await feed().leave("one", listener)


async def test_while_the_server_is_down_joining_fails_and_sending_says_so(
    settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CHANNEL_URL = "redis://127.0.0.1:9/0"
    monkeypatch.setattr(chunk_feed, "CONNECT_S", 0.2)
    own, listener = ChunkFeed(), Listener()
    with pytest.raises(TimeoutError):
        await own.join("one", listener)
    await own.leave("one", listener)
    await send([chunk("one", 0)])
    assert "Chunks of turn of one reached no socket" in caplog.text
