"""The browser's end of a call's socket, agents by script, and a battle whose calls can be opened."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import pytest
from channels.testing import WebsocketCommunicator

from arena import kinds
from tests.arena.conftest import Visitor
from tests.kinds.conftest import House
from tests.voice.battles import agents, turn_on
from tests.voice.telegraph import TELEGRAPH, spoken
from voice.agents.base import AgentFailed, AudioChunk, Event, SessionEnd, TranscriptUpdate
from voice.evaluation.transcript import Role
from voice.proxy import consumer, live
from voice.proxy.routing import sockets
from voice.scenarios.model import Scenario
from voice.speech.audio import FRAME_BYTES

Json = dict[str, Any]
GREETING = "Hello, how can I help you?"
LOUD = spoken("x")[:FRAME_BYTES]
SPEED = 20.0


class Agent:
    """Greets, in chunks of `chunk_bytes`, and answers whatever is heard once with the same words."""

    def __init__(self, chunk_bytes: int = 1 << 20, refuses: str = "", ends: str = "") -> None:
        self._chunk_bytes, self._refuses, self._ends = chunk_bytes, refuses, ends
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self.heard = bytearray()
        self.closed = False

    async def open(self, scenario: Scenario) -> None:
        if self._refuses:
            raise AgentFailed(self._refuses)
        self._say(GREETING)

    def _say(self, words: str) -> None:
        audio = spoken(words)
        for at in range(0, len(audio), self._chunk_bytes):
            self._events.put_nowait(AudioChunk(audio[at : at + self._chunk_bytes]))
        self._events.put_nowait(TranscriptUpdate(Role.AGENT, words))

    async def hear(self, audio: bytes) -> None:
        self.heard += audio
        if audio == LOUD and self._events.empty():
            self._events.put_nowait(TranscriptUpdate(Role.CALLER, "I want a haircut."))
            self._say("It is booked. Goodbye.")
            self._events.put_nowait(SessionEnd(self._ends or "agent_hung_up", "Acme Voice said so"))

    async def events(self) -> AsyncIterator[Event]:
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, SessionEnd):
                return

    async def close(self) -> None:
        self.closed = True


@dataclass
class Seen:
    """What the browser got: messages, and the stream of audio."""

    messages: list[Json] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)

    @property
    def types(self) -> list[str]:
        return [message["type"] for message in self.messages]


class Phone:
    """A browser's end of the socket at this address."""

    def __init__(self, address: str) -> None:
        self.wire = WebsocketCommunicator(sockets, urlsplit(address).path)
        self.seen = Seen()

    async def __aenter__(self) -> Phone:
        await self.wire.connect(timeout=10)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.wire.disconnect()

    async def until(self, *types: str, timeout: float = 20) -> Json:
        """Take what comes until a message of one of these types, which is the answer."""
        while True:
            got = await self.wire.receive_output(timeout=timeout)
            if got["type"] == "websocket.close":
                raise AssertionError(f"closed with {got.get('code')} after {self.seen.types}")
            if got.get("bytes"):
                self.seen.pieces.append(got["bytes"])
                continue
            message = json.loads(got["text"])
            self.seen.messages.append(message)
            if message["type"] in types:
                return dict(message)

    async def speak(self, frames: int = 10) -> None:
        for _ in range(frames):
            await self.wire.send_to(bytes_data=LOUD)

    async def tell(self, message: Json) -> None:
        await self.wire.send_json_to(message)


@dataclass
class Office:
    """A voice battle, and the agents that answer, the next one first."""

    house: House
    visitor: Visitor
    battle_id: str
    answering: list[Agent]

    def call(self, label: str = "a", **body: Any) -> Any:
        return self.visitor.post(f"battles/{self.battle_id}/calls", {"label": label, "consent": True, **body})

    def address(self, label: str = "a") -> str:
        answer = self.call(label)
        assert answer.status_code == 201, answer.content
        return str(answer.json()["socket"])

    def slots(self) -> list[Json]:
        return list(self.visitor.get(f"battles/{self.battle_id}/calls").json()["calls"])


def open_office(monkeypatch: pytest.MonkeyPatch, answering: Iterable[Agent] = ()) -> Office:
    turn_on(monkeypatch)
    waiting = list(answering)
    house = House(kinds.get("voice"), agents())

    async def load() -> Any:
        return TELEGRAPH

    monkeypatch.setattr(consumer.speech, "load", load)
    monkeypatch.setattr(consumer, "adapter_of", lambda row, speech: waiting.pop(0))
    monkeypatch.setattr(live, "SPEED", SPEED)
    visitor = Visitor()
    return Office(house, visitor, house.open(visitor), waiting)
