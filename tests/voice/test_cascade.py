"""The local cascade listens while it speaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable

from tests.voice.calls import SCENARIOS
from tests.voice.telegraph import TELEGRAPH, spoken
from voice.agents.base import AudioChunk, Event, Interrupted, SessionEnd, TranscriptUpdate
from voice.agents.local import Cascade
from voice.agents.mind import ToolDesk, sentences, speakable
from voice.evaluation.transcript import Role
from voice.speech.audio import frames_of, samples_in

LONG = "This is the first sentence of all.", "And this is the second one of them.", "The third one ends it."


class Talker:
    """Answers everything with three sentences, and notes what it was told."""

    finished = False

    def __init__(self) -> None:
        self.said: list[str] = []
        self.heard: list[str] = []

    def greet(self) -> str:
        return "Hello."

    async def reply(self, said: str, desk: ToolDesk) -> AsyncGenerator[str, None]:
        self.said.append(said)
        for each in LONG:
            yield each

    def spoken(self, text: str) -> None:
        self.heard.append(text)


class Line:
    """A conversation with a cascade, in which the test is the caller."""

    def __init__(self) -> None:
        self.mind = Talker()
        self.agent = Cascade(TELEGRAPH, lambda scenario: self.mind)
        self.events: list[Event] = []

    async def __aenter__(self) -> Line:
        await self.agent.open(SCENARIOS["haircut"])
        self._reader = asyncio.create_task(self._read())
        await self.listen(1)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.agent.close()
        await self._reader

    async def _read(self) -> None:
        async for event in self.agent.events():
            self.events.append(event)

    async def say(self, words: str) -> None:
        await self._send(spoken(words))

    async def say_nothing(self, ms: float) -> None:
        await self._send(bytes(2 * samples_in(ms)))

    async def listen(self, answers: int) -> None:
        """Say nothing until the agent has finished so many utterances, its greeting included."""
        await self.silent_until(lambda: len(self.final(Role.AGENT)) >= answers)

    async def silent_until(self, reached: Callable[[], bool]) -> None:
        for _ in range(200):
            if reached():
                return
            await self.say_nothing(100)
        raise AssertionError(f"not within 20 s of audio: {self.events}")

    async def _send(self, audio: bytes) -> None:
        for frame in frames_of(audio):
            await self.agent.hear(frame)
            await asyncio.sleep(0)

    def final(self, role: Role) -> list[str]:
        said = [each for each in self.events if isinstance(each, TranscriptUpdate) and each.final]
        return [each.text for each in said if each.role is role]

    def count(self, kind: type) -> int:
        return sum(isinstance(each, kind) for each in self.events)


async def test_an_answer_is_sent_sentence_by_sentence() -> None:
    async with Line() as line:
        await line.say("What is there to know about it?")
        await line.listen(2)
    assert line.final(Role.CALLER) == ["What is there to know about it?"]
    assert line.final(Role.AGENT) == ["Hello.", " ".join(LONG)]
    assert [each.audio for each in line.events if isinstance(each, AudioChunk)] == [
        spoken(each) for each in ("Hello.", *LONG)
    ]
    assert line.events[-1] == SessionEnd("caller_hung_up")


async def test_a_caller_who_speaks_stops_it_and_is_answered() -> None:
    async with Line() as line:
        await line.say("What is there to know about it?")
        await line.silent_until(lambda: line.count(AudioChunk) > 1)
        await line.say("Wait, I meant something else than that.")
        await line.listen(3)
    assert line.count(Interrupted) == 1
    assert line.mind.said == ["What is there to know about it?", "Wait, I meant something else than that."]
    assert line.mind.heard[1] in (LONG[0], " ".join(LONG[:2]))
    assert line.final(Role.AGENT)[1:] == [line.mind.heard[1], " ".join(LONG)]


async def test_a_short_word_does_not_stop_it() -> None:
    async with Line() as line:
        await line.say("What is there to know about it?")
        await line.silent_until(lambda: line.count(AudioChunk) > 1)
        await line.say("Yes.")
        await line.listen(2)
    assert line.count(Interrupted) == 0
    assert line.mind.said == ["What is there to know about it?"]


async def test_a_pause_is_one_turn() -> None:
    async with Line() as line:
        await line.say("Thank you.")
        await line.say_nothing(600)
        await line.say("And what about Friday?")
        await line.listen(2)
    assert line.mind.said == ["Thank you.And what about Friday?"]


async def test_noise_is_not_answered() -> None:
    async with Line() as line:
        await line.say("   " * 10)
        await line.say_nothing(2000)
    assert line.mind.said == []
    assert line.final(Role.AGENT) == ["Hello."]


def test_sentences_are_not_cut_within_times_and_titles() -> None:
    said = "You have an appointment at 4 p.m. on Thursday with Dr. Smith. Is that all? Call at 5 p.m. Goodbye!"
    assert sentences(said) == [
        "You have an appointment at 4 p.m. on Thursday with Dr. Smith.",
        "Is that all?",
        "Call at 5 p.m.",
        "Goodbye!",
    ]


def test_marks_and_addresses_are_not_read_out() -> None:
    assert speakable("**Sure**, see [our page](https://example.org/x).") == "Sure, see our page."
    assert speakable("# Hours\n* 9 a.m. to 6 p.m.") == "Hours 9 a.m. to 6 p.m."
