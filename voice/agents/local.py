"""A cascade on this machine: detector -> recogniser -> mind -> voice, sentence by sentence, and interruptible.

Its clock is the audio that it hears, which comes without a gap. It needs no other one, and a call may be played at any
speed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from voice.agents.base import AgentFailed, AudioChunk, Event, Interrupted, SessionEnd, TranscriptUpdate
from voice.agents.mind import Mind, ToolDesk, sentences
from voice.evaluation.transcript import Role
from voice.scenarios.model import Scenario
from voice.speech.audio import SAMPLE_BYTES, milliseconds
from voice.speech.parts import Speech
from voice.speech.turns import Heard, Listener, Moment, TurnTaking

log = logging.getLogger(__name__)
MOST_SENTENCES = 12
"""Of one answer: whoever talks without end is cut off here."""


@dataclass(frozen=True)
class Manners:
    """`interrupted_after_ms`: how long the caller speaks before the agent stops; a cough or a "yes" is shorter."""

    taking: TurnTaking = field(default_factory=TurnTaking)
    interrupted_after_ms: float = 320.0


@dataclass
class _Sentence:
    text: str
    plays_from_ms: float
    plays_until_ms: float


class Cascade:
    """One conversation with the local cascade. An `Agent`."""

    def __init__(self, speech: Speech, make_mind: Callable[[Scenario], Mind], manners: Manners | None = None) -> None:
        self._speech, self._make_mind, self._manners = speech, make_mind, manners or Manners()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._listener = Listener(speech.new_detector(), self._manners.taking)
        self._heard_ms = 0.0
        self._recognition: asyncio.Task[str] | None = None
        self._answer: asyncio.Task[None] | None = None
        self._sentences: list[_Sentence] = []
        """What was sent of the answer."""
        self._unanswered = b""
        """Audio of the caller that was not recognised before the caller went on."""
        self._ended = False

    async def open(self, scenario: Scenario) -> None:
        self._mind = self._make_mind(scenario)
        self._expected = scenario.expected_words
        self._desk = ToolDesk(scenario, self._events.put_nowait)
        self._answer = asyncio.create_task(self._guarded(self._greet))

    async def hear(self, audio: bytes) -> None:
        self._heard_ms += milliseconds(len(audio) // SAMPLE_BYTES)
        for moment in self._listener.hear(audio):
            self._on(moment)
        if self._is_interrupted():
            self._interrupt()
        elif self._sentences and self._is_silent():
            self._finish_answer()

    async def events(self) -> AsyncIterator[Event]:
        while True:
            event = await self._events.get()
            yield event
            if isinstance(event, SessionEnd):
                return

    async def close(self) -> None:
        self._end(SessionEnd("caller_hung_up"))
        tasks = [task for task in (self._recognition, self._answer) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        close = getattr(getattr(self, "_mind", None), "close", None)
        if close is not None:
            await close()

    @property
    def is_thinking(self) -> bool:
        """Whether an answer is being made: not all of its sentences were sent."""
        return self._answer is not None and not self._answer.done()

    # Listening.

    def _on(self, moment: Moment) -> None:
        match moment.what:
            case Heard.PAUSED:  # recognised while it is waited whether the caller goes on
                self._recognition = asyncio.create_task(self._recognised(self._unanswered + moment.audio))
            case Heard.WENT_ON:
                self._drop_recognition()
            case Heard.ENDED:
                audio, self._unanswered = self._unanswered + moment.audio, b""
                recognition = self._recognition or asyncio.create_task(self._recognised(audio))
                self._recognition = None
                if self._is_talking():
                    recognition.cancel()  # too short to interrupt
                else:
                    self._answer = asyncio.create_task(self._guarded(partial(self._reply, recognition, audio)))

    async def _recognised(self, audio: bytes) -> str:
        return await self._speech.text_of(audio, self._expected)

    def _drop_recognition(self) -> None:
        if self._recognition is not None:
            self._recognition.cancel()
            self._recognition = None

    def _is_talking(self) -> bool:
        return bool(self._sentences) or self.is_thinking

    def _is_silent(self) -> bool:
        """Whether all of the answer was played."""
        return not self.is_thinking and self._heard_ms >= self._sentences[-1].plays_until_ms

    def _is_interrupted(self) -> bool:
        return self._is_talking() and self._listener.spoken_ms >= self._manners.interrupted_after_ms

    def _interrupt(self) -> None:
        if self._answer is not None:
            self._answer.cancel()
            self._answer = None
        self._sentences = [each for each in self._sentences if each.plays_from_ms < self._heard_ms]
        self._events.put_nowait(Interrupted())
        self._tell_answer()

    # Answering.

    async def _greet(self) -> None:
        for sentence in sentences(self._mind.greet()):
            await self._say(sentence)

    async def _reply(self, recognition: asyncio.Task[str], audio: bytes) -> None:
        try:
            said = await recognition
        except asyncio.CancelledError:
            self._unanswered = audio
            raise
        if not said.strip():
            return
        self._events.put_nowait(TranscriptUpdate(Role.CALLER, said))
        count = 0
        async with contextlib.aclosing(self._mind.reply(said, self._desk)) as answer:
            async for sentence in answer:
                await self._say(sentence)
                count += 1
                if count >= MOST_SENTENCES:
                    return

    async def _say(self, sentence: str) -> None:
        audio = await self._speech.audio_of(sentence)
        begins = max(self._heard_ms, self._sentences[-1].plays_until_ms if self._sentences else 0.0)
        self._sentences.append(_Sentence(sentence, begins, begins + milliseconds(len(audio) // SAMPLE_BYTES)))
        self._events.put_nowait(TranscriptUpdate(Role.AGENT, sentence, final=False))
        self._events.put_nowait(AudioChunk(audio))

    def _finish_answer(self) -> None:
        self._tell_answer()
        if self._mind.finished:
            self._end(SessionEnd("agent_hung_up"))

    def _tell_answer(self) -> None:
        """Tell what was heard of the answer, to the mind as well."""
        heard = " ".join(each.text for each in self._sentences)
        self._sentences = []
        self._mind.spoken(heard)
        if heard:
            self._events.put_nowait(TranscriptUpdate(Role.AGENT, heard))

    async def _guarded(self, answering: Callable[[], Awaitable[None]]) -> None:
        """Whatever fails ends the call with a reason."""
        try:
            await answering()
        except AgentFailed as failure:
            self._end(SessionEnd("agent_failed", str(failure)))
        except Exception as error:
            log.exception("the cascade failed")
            self._end(SessionEnd("agent_failed", f"{type(error).__name__}: {error}"))

    def _end(self, end: SessionEnd) -> None:
        if not self._ended:
            self._ended = True
            self._events.put_nowait(end)
