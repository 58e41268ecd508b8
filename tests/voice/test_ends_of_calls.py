"""A call always ends, with a reason: limits, silence, failures, agents that talk without end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace

import pytest

from tests.voice.calls import SCENARIOS, SPEED, called, held
from tests.voice.telegraph import TELEGRAPH, spoken
from voice.agents.base import ENDS, AgentFailed, AudioChunk, Event, Interrupted, SessionEnd, TranscriptUpdate
from voice.agents.local import Cascade
from voice.agents.mind import ToolDesk
from voice.agents.rules import Rules
from voice.calls.caller import ScriptedCaller
from voice.calls.holding import hold
from voice.evaluation.transcript import Role
from voice.scenarios.model import Scenario

HAIRCUT = SCENARIOS["haircut"]


class Muse:
    """A mind that says what it is told."""

    finished = False

    def __init__(self, *words: str) -> None:
        self._words = words

    def greet(self) -> str:
        return "Hello, how can I help you?"

    async def reply(self, said: str, desk: ToolDesk) -> AsyncGenerator[str, None]:
        for each in self._words:
            yield each

    def spoken(self, text: str) -> None:
        return


class Broken(Muse):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    async def reply(self, said: str, desk: ToolDesk) -> AsyncGenerator[str, None]:
        yield "Let me see."
        raise self._error


class Scripted:
    """An agent that sends these events, and then nothing."""

    def __init__(self, *events: Event, refuses: str = "") -> None:
        self._events, self._refuses = events, refuses
        self.closed = 0

    async def open(self, scenario: Scenario) -> None:
        if self._refuses:
            raise AgentFailed(self._refuses)

    async def hear(self, audio: bytes) -> None:
        return

    async def events(self) -> AsyncIterator[Event]:
        for event in self._events:
            yield event
        if not any(isinstance(event, SessionEnd) for event in self._events):
            await asyncio.Event().wait()

    async def close(self) -> None:
        self.closed += 1


def cascade(mind: Muse) -> Cascade:
    return Cascade(TELEGRAPH, lambda scenario: mind)


def test_an_agent_that_never_answers_the_question_meets_the_limit_of_turns() -> None:
    call, _, metrics = called(replace(HAIRCUT, max_turns=3), cascade(Muse("I see.")))
    assert call.ended == "turn_limit"
    assert not metrics.containment


def test_the_limit_of_time() -> None:
    call, _, _ = called(replace(HAIRCUT, max_duration_s=5), cascade(Muse("I see.")))
    assert call.ended == "time_limit"
    assert call.duration_s == pytest.approx(5, abs=0.1)


def test_an_agent_that_says_nothing_is_left_after_the_caller_asked_again() -> None:
    call, _, _ = called(HAIRCUT, cascade(Muse()))
    assert call.ended == "agent_silent"
    assert [line.text for line in call.caller_lines] == [HAIRCUT.caller.opening] * 2
    assert len(call.agent_lines) == 1


def test_an_agent_that_does_not_even_greet() -> None:
    call, _, metrics = called(HAIRCUT, Scripted())
    assert call.ended == "agent_silent"
    assert (metrics.latency.p50_ms, metrics.total_turns) == (None, 0)


@pytest.mark.parametrize("error", [AgentFailed("the server is down"), RuntimeError("a fault")])
def test_a_mind_that_fails_ends_the_call(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    call, transcript, _ = called(HAIRCUT, cascade(Broken(error)))
    assert call.ended == "agent_failed"
    assert str(error) in call.story
    assert transcript.lines[-1].text == "Let me see."


def test_an_agent_that_cannot_be_reached() -> None:
    agent = Scripted(refuses="status 401")
    call, transcript, _ = called(HAIRCUT, agent)
    assert (call.ended, call.story, transcript.lines) == ("agent_failed", "status 401", [])
    assert agent.closed == 1


def test_words_without_end_are_cut_off() -> None:
    call, transcript, _ = called(replace(HAIRCUT, max_duration_s=30), cascade(Muse(*["More."] * 1000)))
    assert max(line.text.count("More.") for line in transcript.lines) == 12
    assert call.ended in ENDS


def test_the_end_of_a_session_waits_for_its_last_words() -> None:
    audio = spoken("Goodbye, and have a nice day.")
    call, _, _ = called(HAIRCUT, Scripted(AudioChunk(audio), SessionEnd("agent_hung_up")))
    assert call.ended == "agent_hung_up"
    assert audio in bytes(call.agent_audio)


async def test_what_fails_in_the_caller_is_raised_and_not_blamed_on_the_agent() -> None:
    async def deaf(audio: bytes) -> str:
        raise OSError("no recogniser")

    agent = Cascade(TELEGRAPH, Rules)
    caller = ScriptedCaller(HAIRCUT, TELEGRAPH._replace(text_of=deaf))
    with pytest.raises(OSError, match="no recogniser"):
        await hold(agent, caller, HAIRCUT, SPEED)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_what_was_interrupted_before_it_was_played_was_not_said() -> None:
    audio = spoken("Goodbye.")
    words = TranscriptUpdate(Role.AGENT, "Hello there.", final=False)
    events = [words, AudioChunk(audio), Interrupted(), AudioChunk(audio), TranscriptUpdate(Role.AGENT, "Goodbye.")]
    call, _, _ = called(HAIRCUT, Scripted(*events, SessionEnd("agent_hung_up")))
    assert [(line.text, line.cut) for line in call.agent_lines] == [("Goodbye.", False)]


async def test_a_call_leaves_nothing_running() -> None:
    await held(HAIRCUT)
    await held(replace(HAIRCUT, max_duration_s=3))
    assert asyncio.all_tasks() == {asyncio.current_task()}
