"""Calls at once in one process: each caller gets the whole stream, and a call takes little memory."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from dataclasses import replace

import pytest

from tests.voice.calls import SCENARIOS
from tests.voice.wire import LOUD, Agent
from voice.calls.holding import Held, hold
from voice.evaluation.transcript import Role
from voice.proxy.microphone import PIECE_BYTES, Browser

SCENARIO = replace(SCENARIOS["haircut"], max_duration_s=3)
CALLS = 10
MOST_BYTES = 1_000_000


class Ear:
    """Notes when each piece came."""

    def __init__(self) -> None:
        self.at: list[float] = []
        self.sizes: set[int] = set()
        self.browser = Browser(self.take)

    def take(self, piece: bytes) -> None:
        self.at.append(time.perf_counter())
        self.sizes.add(len(piece))

    def said(self, role: Role, text: str) -> None:
        if role is Role.CALLER:
            self.browser.understood(text)

    def speaking(self) -> None:
        return

    def cleared(self) -> None:
        return

    async def call(self, speed: float) -> Held:
        self.browser.take(LOUD * 4)
        return await hold(Agent(ends="caller_hung_up"), self.browser, SCENARIO, speed, watch=self)


async def test_every_caller_gets_the_whole_stream_while_ten_call_at_once() -> None:
    ears = [Ear() for _ in range(CALLS)]
    held = await asyncio.gather(*(ear.call(4.0) for ear in ears))
    for ear, each in zip(ears, held, strict=True):
        assert ear.sizes == {PIECE_BYTES}
        assert len(ear.at) == len(each.agent_audio) // PIECE_BYTES
        assert len(each.agent_audio) == len(each.caller_audio)


class Quiet(Agent):
    """Never hangs up."""

    async def hear(self, audio: bytes) -> None:
        return


async def test_a_call_of_the_longest_duration_takes_little_memory() -> None:
    tracemalloc.start()
    try:
        ear = Ear()
        longest = replace(SCENARIO, max_duration_s=50)
        held = await hold(Quiet(), ear.browser, longest, 1e6, watch=ear)
        _, most = tracemalloc.get_traced_memory()
        assert len(held.agent_audio) + len(held.caller_audio) > 3_000_000
    finally:
        tracemalloc.stop()
    assert most < MOST_BYTES


@pytest.mark.parametrize("size", [1, 639, 641, 5000])
def test_whatever_pieces_a_browser_sends_its_audio_is_heard_whole(size: int) -> None:
    browser = Browser(lambda piece: None)
    audio = LOUD * 10
    for at in range(0, len(audio), size):
        browser.take(audio[at : at + size])
    heard = b"".join(browser.next_frame() for _ in range(10))
    assert heard == audio
