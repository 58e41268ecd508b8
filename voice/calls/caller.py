"""A caller by script: listens with a recogniser, and speaks with a voice. For calls without people."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from voice.scenarios.model import Answer, Scenario, Twist
from voice.scenarios.slots import has_phrase
from voice.speech.audio import FRAME_MS, SILENT_FRAME, frames_of
from voice.speech.parts import Speech
from voice.speech.turns import Heard, Listener, Moment, TurnTaking

LISTENING = TurnTaking(end_ms=900.0)
"""A caller waits a little longer than an agent: answers come sentence by sentence."""
PARTING = ("goodbye", "bye", "thank you for calling")
DONE = ("anything else", "else can i", "something else", *PARTING)
SAID_AT_MOST = 3
"""Times that the same answer is given: an agent that asks on did not understand it."""
AGAIN = "Sorry, could you say that again?"
PATIENCE_MS = 10_000.0
"""How long the caller waits for an answer before saying the same once more, and then before hanging up."""
INTERRUPTS_AFTER_MS = 800.0
LISTENS_AFTER_CLOSING_MS = 6_000.0


@dataclass
class Said:
    """What the caller said. Times [ms] on the clock of the call, of its audio with the silence around it."""

    text: str
    start_ms: float
    end_ms: float


class Noted(NamedTuple):
    """What one side understood, and when [ms] on the clock of the call."""

    at_ms: float
    text: str


class ScriptedCaller:
    """Says the opening, then what the script has for what it hears, its twists in between, and at last the closing."""

    def __init__(self, scenario: Scenario, speech: Speech) -> None:
        self._script, self._speech = scenario.caller, speech
        self._twists = deque(sorted(scenario.twists, key=lambda twist: twist.after))
        self._listener = Listener(speech.new_detector(), LISTENING)
        self._frames: deque[bytes] = deque()
        self._clock_ms = 0.0
        self.spoke_at_ms = 0.0
        self._waiting_since_ms = 0.0
        self._agent_began_ms: float | None = None
        self._given: dict[Answer, int] = {}
        self._recognition: asyncio.Task[str] | None = None
        self._thinking: asyncio.Task[None] | None = None
        self._interruption: asyncio.Task[None] | None = None
        self._asked_twice = False
        self._closed_ms: float | None = None
        self.said: list[Said] = []
        self.heard: list[Noted] = []
        """What it understood of the agent."""
        self.hung_up = ""
        """Why it ended the call; "" while it goes on."""

    @property
    def is_speaking(self) -> bool:
        return bool(self._frames)

    @property
    def is_thinking(self) -> bool:
        """Whether its next words are being made."""
        return self._thinking is not None and not self._thinking.done()

    def next_frame(self) -> bytes:
        """The next 20 ms of its microphone."""
        self._clock_ms += FRAME_MS
        if not self._frames:
            return SILENT_FRAME
        frame = self._frames.popleft()
        self.spoke_at_ms = self._clock_ms
        if not self._frames:
            self._waiting_since_ms = self._clock_ms
        return frame

    def hear(self, frame: bytes) -> None:
        """The next 20 ms of the agent. Raises what failed in listening or speaking."""
        for task in (self._thinking, self._interruption):
            if task is not None and task.done() and not task.cancelled():
                task.result()
        for moment in self._listener.hear(frame):
            self._on(moment)
        self._perhaps_interrupt()
        self._perhaps_hang_up()

    async def close(self) -> None:
        tasks = [task for task in (self._recognition, self._thinking, self._interruption) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Listening.

    def _on(self, moment: Moment) -> None:
        match moment.what:
            case Heard.BEGAN:
                self._agent_began_ms = self._clock_ms
            case Heard.PAUSED:
                self._recognition = asyncio.create_task(self._recognised(moment.audio))
            case Heard.WENT_ON:
                self._drop_recognition()
            case Heard.ENDED:
                self._agent_began_ms, self._asked_twice = None, False
                self._waiting_since_ms = self._clock_ms
                if self._recognition is not None and not self.is_speaking:
                    self._thinking = asyncio.create_task(self._answer(self._recognition))
                self._recognition = None

    async def _recognised(self, audio: bytes) -> str:
        return await self._speech.text_of(audio)

    def _drop_recognition(self) -> None:
        if self._recognition is not None:
            self._recognition.cancel()
            self._recognition = None

    async def _answer(self, recognition: asyncio.Task[str]) -> None:
        heard = await recognition
        self.heard.append(Noted(self._clock_ms, heard))
        if self._closed_ms is not None:
            self.hung_up = "caller_hung_up"
            return
        await self._say(await self._words(heard))

    async def _words(self, heard: str) -> str:
        """What to say to that."""
        if (twist := self._due()) and self.said and not twist.interrupts:
            self._twists.popleft()
            return twist.say
        return await self._own_words(heard)

    async def _own_words(self, heard: str) -> str:
        """What to say where no twist is due."""
        if not self.said:
            return self._script.opening
        for answer in self._script.answers:
            most = 1 if answer.once else SAID_AT_MOST
            if self._given.get(answer, 0) < most and any(has_phrase(heard, phrase) for phrase in answer.heard):
                self._given[answer] = self._given.get(answer, 0) + 1
                return answer.say
        return self._script.closing if any(has_phrase(heard, phrase) for phrase in DONE) else AGAIN

    def _due(self) -> Twist | None:
        return self._twists[0] if self._twists and len(self.said) >= self._twists[0].after else None

    async def _say(self, words: str) -> None:
        audio = await self._speech.audio_of(words)
        frames = list(frames_of(audio))
        self.said.append(Said(words, self._clock_ms, self._clock_ms + len(frames) * FRAME_MS))
        self._frames.extend(frames)
        if words == self._script.closing or any(has_phrase(words, phrase) for phrase in PARTING):
            self._closed_ms = self._clock_ms + len(frames) * FRAME_MS

    # Twists and patience.

    def _perhaps_interrupt(self) -> None:
        twist, since = self._due(), self._agent_began_ms
        if twist and twist.interrupts and since is not None and self._clock_ms - since >= INTERRUPTS_AFTER_MS:
            self._twists.popleft()
            self._drop_recognition()
            self._interruption = asyncio.create_task(self._say(twist.say))

    def _perhaps_hang_up(self) -> None:
        if self._closed_ms is not None:
            if self._clock_ms - self._closed_ms >= LISTENS_AFTER_CLOSING_MS:
                self.hung_up = "caller_hung_up"
            return
        if self.is_speaking or self.is_thinking or self._listener.is_speaking:
            return
        if self._clock_ms - self._waiting_since_ms < PATIENCE_MS:
            return
        self._waiting_since_ms = self._clock_ms
        if self._asked_twice or not self.said:
            self.hung_up = "agent_silent"
            return
        self._asked_twice = True
        self._thinking = asyncio.create_task(self._say(self.said[-1].text))
