"""What providers do in different ways looks alike from the browser: nothing tells which one answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from asgiref.sync import sync_to_async

from tests.voice.wire import GREETING, LOUD, Agent, Office, Phone, open_office
from voice.agents.base import AudioChunk, Interrupted, SessionEnd, TranscriptUpdate
from voice.evaluation.transcript import Role
from voice.models import Conversation
from voice.proxy import live
from voice.speech.audio import FRAME_BYTES, QUIET, RATE, SAMPLE_BYTES, SILENT_FRAME

pytestmark = pytest.mark.django_db(transaction=True)
HUM = np.resize(np.array([QUIET, -QUIET], "<i2"), FRAME_BYTES // SAMPLE_BYTES).tobytes()


class Splits(Agent):
    """Tells what it understood in several parts, and long before it answers."""

    async def hear(self, audio: bytes) -> None:
        self.heard += audio
        if self.heard.count(LOUD) == 1 and audio == LOUD:
            self._events.put_nowait(TranscriptUpdate(Role.CALLER, "I want"))
        if self.heard.count(LOUD) == 8 and audio == LOUD:
            self._events.put_nowait(TranscriptUpdate(Role.CALLER, "a haircut."))
            self._say("It is booked. Goodbye.")
            self._events.put_nowait(SessionEnd("agent_hung_up", ""))


class TellsOfEveryWord(Agent):
    """As providers do that send an interruption whenever somebody speaks."""

    async def hear(self, audio: bytes) -> None:
        if audio == LOUD and not self.heard.count(LOUD):
            self._events.put_nowait(Interrupted())
        await super().hear(audio)


class SentenceBySentence(Agent):
    """Sends the words of one utterance in several final transcripts."""

    def _say(self, words: str) -> None:
        super()._say(words)
        self._events.put_nowait(TranscriptUpdate(Role.AGENT, "And more."))


class Hums(Agent):
    """Sends the noise of its line where it says nothing."""

    def _say(self, words: str) -> None:
        for _ in range(20):
            self._events.put_nowait(AudioChunk(HUM))
        super()._say(words)


@pytest.fixture
def office(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.setattr(live, "GREETS_AT_MS", (2000.0, 2000.0))
    return open_office(monkeypatch)


async def called(office: Office, agent: Agent) -> Phone:
    office.answering.append(agent)
    async with Phone(await sync_to_async(office.address)()) as phone:
        await phone.until("said")
        await phone.speak()
        await phone.until("ended")
    return phone


def told(phone: Phone) -> list[Any]:
    return [(each["role"], each["text"]) for each in phone.seen.messages if each["type"] == "said"]


async def test_the_callers_words_come_at_once_with_the_answer_however_a_provider_tells_them(office: Office) -> None:
    phone = await called(office, Splits())
    assert told(phone) == [
        ("agent", GREETING),
        ("caller", "I want a haircut."),
        ("agent", "It is booked. Goodbye."),
    ]


async def test_an_interruption_of_nothing_is_not_told(office: Office) -> None:
    phone = await called(office, TellsOfEveryWord())
    assert "clear" not in phone.seen.types


async def test_an_utterance_that_is_told_in_parts_is_one_line(office: Office) -> None:
    phone = await called(office, SentenceBySentence())
    assert [text for role, text in told(phone) if role == "agent"] == [
        f"{GREETING} And more.",
        "It is booked. Goodbye. And more.",
    ]


async def test_the_noise_of_a_line_is_silence(office: Office, settings: Any, tmp_path: Any) -> None:
    settings.VOICE = {**settings.VOICE, "recordings": tmp_path}
    phone = await called(office, Hums())
    assert HUM not in b"".join(phone.seen.pieces)
    held = await Conversation.objects.aget()
    assert HUM not in (tmp_path / held.agent_audio_path).read_bytes()


async def test_nobody_greets_before_the_moment_that_was_drawn(office: Office) -> None:
    phone = await called(office, Agent())
    stream = b"".join(phone.seen.pieces)
    until = 2 * RATE * SAMPLE_BYTES
    assert stream[:until].strip(b"\0") == b""
    assert stream[until : until + FRAME_BYTES] != SILENT_FRAME
