"""Holding a call: both sides hear each other in frames of 20 ms, which are also the clock of its recordings."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from voice.agents.base import Agent, AgentFailed, AudioChunk, Event, Interrupted, SessionEnd, ToolCall, TranscriptUpdate
from voice.calls.caller import Noted, Said
from voice.calls.track import Track
from voice.evaluation.transcript import Role, ToolUse
from voice.scenarios.model import Scenario
from voice.speech.audio import FRAME_BYTES, FRAME_MS, SILENT_FRAME, is_quiet

SILENT_AFTER_S = 30.0
"""An agent that owes an answer and sends no audio for so long has failed."""
OPENS_WITHIN_S = 15.0


class Caller(Protocol):
    """Whoever talks to the agent: a script, or a visitor's browser."""

    said: list[Said]
    heard: list[Noted]
    hung_up: str
    spoke_at_ms: float
    """When there was something to hear of them last, on the clock of the call."""

    def next_frame(self) -> bytes: ...

    def hear(self, frame: bytes) -> None: ...

    async def close(self) -> None: ...


class Watch(Protocol):
    """Whoever is told of a call while it is held."""

    def said(self, role: Role, text: str) -> None:
        """A line has ended: what the agent understood of the caller, or what was played of the agent."""
        ...

    def speaking(self) -> None:
        """An utterance of the agent begins to be played."""
        ...

    def cleared(self) -> None:
        """The agent was interrupted: nothing of what it had sent is played any more."""
        ...


@dataclass
class AgentLine:
    """What the agent said. Times [ms] on the clock of the call: of the first and the last frame that was played."""

    text: str
    start_ms: float
    end_ms: float
    cut: bool


@dataclass
class Held:
    """A call that was held. The recordings (s16le) begin together and are equally long."""

    caller_audio: Track = field(default_factory=Track)
    agent_audio: Track = field(default_factory=Track)
    caller_lines: list[Said] = field(default_factory=list)
    understood: list[Noted] = field(default_factory=list)
    """What the agent understood."""
    heard: list[Noted] = field(default_factory=list)
    """What the caller understood."""
    agent_lines: list[AgentLine] = field(default_factory=list)
    tools: list[ToolUse] = field(default_factory=list)
    first_audio_ms: list[float] = field(default_factory=list)
    """When audio of the agent came and nothing was left to play."""
    ended: str = ""
    story: str = ""
    late_ms: float = 0.0
    """By how much the clock of frames was behind at most."""

    @property
    def duration_s(self) -> float:
        return len(self.agent_audio) / FRAME_BYTES * FRAME_MS / 1000


async def closed(agent: Agent) -> None:
    """The agent is closed when this returns."""
    await agent.close()


async def hold(
    agent: Agent,
    caller: Caller,
    scenario: Scenario,
    speed: float = 1.0,
    *,
    watch: Watch | None = None,
    greets_at_ms: float = 0.0,
    close: Callable[[Agent], Awaitable[None]] = closed,
) -> Held:
    """Hold a call to its end, at the pace of people; `speed` is for tests. Whatever the agent does, it ends with a
    reason. What fails in the caller is raised. `greets_at_ms`: nothing of the agent is played before; the clock then
    starts at once, and the agent is opened beside it, so that how long that takes is not to be seen. `close` lets go of
    the agent."""
    call = _Call(scenario, watch, greets_at_ms)
    line = _Line(agent, call, asyncio.create_task(_open(agent, scenario)))
    try:
        if not greets_at_ms:
            await line.opened()
        await _run(line, caller, call, speed)
    except AgentFailed as failure:
        call.end("agent_failed", str(failure))
    finally:
        await caller.close()
        await line.hang_up()
        await close(agent)
    call.close_line(cut=True)
    call.held.caller_lines = caller.said[: scenario.max_turns]  # a call ends where one turn too many begins
    call.held.heard = caller.heard
    return call.held


async def _open(agent: Agent, scenario: Scenario) -> None:
    """Raises AgentFailed, also for an agent that does not answer."""
    try:
        async with asyncio.timeout(OPENS_WITHIN_S):
            await agent.open(scenario)
    except TimeoutError:
        raise AgentFailed(f"not reached within {OPENS_WITHIN_S:g} s") from None


class _Line:
    """The agent's end of a call. It hears nothing before it is open and may greet: it takes its audio for the clock,
    and has to know when its greeting is played."""

    def __init__(self, agent: Agent, call: _Call, opening: asyncio.Task[None]) -> None:
        self._agent, self._call, self._opening = agent, call, opening
        self._reader: asyncio.Task[None] | None = None

    async def opened(self) -> None:
        """Raises AgentFailed where it cannot be opened."""
        await self._opening
        self._reader = asyncio.create_task(_read(self._agent, self._call))

    async def hear(self, frame: bytes) -> None:
        """Raises AgentFailed where it could not be opened."""
        if self._reader is None and self._opening.done():
            await self.opened()
        if self._reader is not None and not self._call.is_ringing:
            await self._agent.hear(frame)

    async def hang_up(self) -> None:
        """Neither open it further nor read from it."""
        for task in (self._opening, self._reader):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, AgentFailed):  # which was told before
                    await task


async def _run(agent: _Line, caller: Caller, call: _Call, speed: float) -> None:
    loop = asyncio.get_running_loop()
    began, count = loop.time(), 0
    while not call.held.ended:
        frame = caller.next_frame()
        call.held.caller_audio += frame
        await agent.hear(frame)
        caller.hear(call.play())
        call.check_limits(caller)
        count += 1
        due = began + count * FRAME_MS / 1000 / speed
        call.held.late_ms = max(call.held.late_ms, (loop.time() - due) * 1000)
        await asyncio.sleep(max(0.0, due - loop.time()))


async def _read(agent: Agent, call: _Call) -> None:
    async for event in agent.events():
        call.take(event)


class _Call:
    """What is played, recorded and noted."""

    def __init__(self, scenario: Scenario, watch: Watch | None = None, greets_at_ms: float = 0.0) -> None:
        self._scenario, self._watch, self._greets_at_ms = scenario, watch, greets_at_ms
        self.held = Held()
        self._queue: deque[bytes] = deque()
        self._rest = b""
        self._ending: SessionEnd | None = None
        self._line_from_ms: float | None = None
        self._line_until_ms = 0.0
        self._partial: list[str] = []
        self._audio_at_ms = 0.0
        self._interrupted = False
        self._finished: str | None = None
        """The words of an utterance of which the last frames are still to be played."""

    @property
    def _now_ms(self) -> float:
        return self.held.duration_s * 1000

    @property
    def is_ringing(self) -> bool:
        """Whether nothing of the agent is played yet, however soon it answers."""
        return self._now_ms < self._greets_at_ms

    def take(self, event: Event) -> None:
        """Note what the agent did."""
        match event:
            case AudioChunk(audio):
                self._take_audio(audio)
            case Interrupted():
                self._drop()
            case TranscriptUpdate(Role.CALLER, text, True):
                self.held.understood.append(Noted(self._now_ms, text))
                if self._watch:
                    self._watch.said(Role.CALLER, text)
            case TranscriptUpdate(Role.AGENT, text, True):  # several may come of one utterance
                self._finished = f"{self._finished} {text}" if self._finished else text
            case TranscriptUpdate(Role.AGENT, text, False):
                self._partial.append(text)
            case ToolCall(tool, arguments, done):
                self.held.tools.append(ToolUse(tool, dict(arguments), done, self._now_ms))
            case SessionEnd():
                self._ending = event

    def _drop(self) -> None:
        """Forget what was not played. Of an utterance of which nothing was, nothing was said. Nobody is told where
        there was nothing: some providers tell of every word of a caller."""
        self._interrupted = self._line_from_ms is not None
        if self._watch and (self._interrupted or self._queue):
            self._watch.cleared()
        self._queue.clear()
        self._rest = b""
        if not self._interrupted:
            self._partial.clear()

    def _take_audio(self, audio: bytes) -> None:
        if not audio:
            return
        if not self._queue:
            self.held.first_audio_ms.append(self._now_ms)
        self._audio_at_ms = self._now_ms
        self._rest += audio
        whole = len(self._rest) // FRAME_BYTES * FRAME_BYTES
        self._queue.extend(self._rest[at : at + FRAME_BYTES] for at in range(0, whole, FRAME_BYTES))
        self._rest = self._rest[whole:]

    def play(self) -> bytes:
        """The next 20 ms of the agent, silence where there is nothing. Recorded."""
        frame = SILENT_FRAME
        if self.is_ringing:
            pass
        elif self._queue:
            frame = self._queue.popleft()
            if self._line_from_ms is None:
                self._begin_line()
            self._line_until_ms = self._now_ms + FRAME_MS
        elif self._rest:  # the end of an utterance that is no whole frame
            frame, self._rest = self._rest.ljust(FRAME_BYTES, b"\0"), b""
        if is_quiet(frame):  # nobody's line hums
            frame = SILENT_FRAME
        self.held.agent_audio += frame
        if self._finished is not None and not self._queue:
            self.close_line(self._interrupted)
        return frame

    def _begin_line(self) -> None:
        self._line_from_ms = self._now_ms
        if self._watch:
            self._watch.speaking()

    def close_line(self, cut: bool) -> None:
        """Note an utterance of the agent as finished."""
        said = self._finished or " ".join(self._partial)
        if said and self._line_from_ms is not None:
            self.held.agent_lines.append(AgentLine(said, self._line_from_ms, self._line_until_ms, cut))
            if self._watch:
                self._watch.said(Role.AGENT, said)
        self._line_from_ms, self._interrupted, self._finished = None, False, None
        self._partial.clear()

    def check_limits(self, caller: Caller) -> None:
        if self._ending is not None and not self._queue:
            self.end(self._ending.reason, self._ending.story)
        elif caller.hung_up:
            self.end(caller.hung_up)
        elif self.held.duration_s >= self._scenario.max_duration_s:
            self.end("time_limit")
        elif len(caller.said) > self._scenario.max_turns:
            self.end("turn_limit")
        elif self._owes_answer(caller) and self._quiet_ms(caller) >= SILENT_AFTER_S * 1000:
            self.end("agent_silent")

    def _owes_answer(self, caller: Caller) -> bool:
        """Whether it has to greet, or the caller spoke after it."""
        return not self.held.first_audio_ms or caller.spoke_at_ms >= max(self._audio_at_ms, self._line_until_ms)

    def _quiet_ms(self, caller: Caller) -> float:
        return self._now_ms - max(self._audio_at_ms, self._line_until_ms, caller.spoke_at_ms)

    def end(self, reason: str, story: str = "") -> None:
        if not self.held.ended:
            self.held.ended, self.held.story = reason, story
