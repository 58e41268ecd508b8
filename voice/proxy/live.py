"""Calls while they are held: one task for each, which outlives a connection that is lost for a moment."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from random import SystemRandom
from typing import Any

from asgiref.sync import sync_to_async

from voice.agents.base import Agent
from voice.battles import slots
from voice.calls.holding import Held, hold
from voice.calls.keeping import keep_held
from voice.evaluation.transcript import Role
from voice.models import Call
from voice.proxy.closing import in_background
from voice.proxy.microphone import PIECE_MS, Browser
from voice.scenarios.model import Scenario
from voice.speech.audio import RATE
from voice.speech.parts import Speech

log = logging.getLogger(__name__)
Json = dict[str, Any]
Message = Json | bytes
GREETS_AT_MS = (1500.0, 3000.0)
"""Agents greet at a moment drawn from here; whoever is there sooner waits. So how soon that is is not to be heard."""
WATCHDOG_S = 30.0
"""After its longest duration a call that has not ended by itself is ended."""
BEAT_S = 5.0
SPEED = 1.0
"""Of the clock of calls; another one is for tests."""
LONGEST_TEXT = 500
"""Characters of typed words."""


class LiveCall:
    """One call. A `Watch` of it. `send` of the connection takes what the browser gets, in order."""

    def __init__(self, call: Call, scenario: Scenario, agent: Agent, speech: Speech, done: Callable[[], None]) -> None:
        self.call, self.scenario = call, scenario
        self._agent, self._speech, self._done = agent, speech, done
        self._send: Callable[[Message], None] | None = None
        self._typing: set[asyncio.Task[None]] = set()
        self._understood: list[str] = []
        """What the agent understood and the browser was not told yet."""
        self.browser = Browser(self._pass)
        self.task: asyncio.Task[None] | None = None

    @property
    def is_attached(self) -> bool:
        return self._send is not None

    def start(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._pass(self._about("started"))
        self.task = asyncio.create_task(self._run(), name=f"call {self.call.pk}")

    def resume(self, send: Callable[[Message], None]) -> None:
        """The browser is back."""
        self._send = send
        self.browser.come_back()
        self._pass(self._about("resumed"))

    def detach(self) -> None:
        self._send = None
        self.browser.leave()

    def hang_up(self) -> None:
        self.browser.hung_up = "caller_hung_up"

    def type(self, text: str) -> None:
        """Say typed words: by a voice, so that every agent gets them as it gets speech."""
        task = asyncio.create_task(self._say(text[:LONGEST_TEXT]))
        self._typing.add(task)
        task.add_done_callback(self._typing.discard)

    async def _say(self, text: str) -> None:
        self.browser.type(await self._speech.audio_of(text))

    # What the call tells.

    def said(self, role: Role, text: str) -> None:
        """The caller's words are told with the agent's answer: when a provider sends them, and in how many parts, would
        tell which one it is."""
        if role is Role.CALLER:
            self.browser.understood(text)
            self._understood.append(text)
            return
        self._tell_understood()
        self._pass({"type": "said", "role": str(role), "text": text})

    def speaking(self) -> None:
        self._tell_understood()

    def _tell_understood(self) -> None:
        words, self._understood = " ".join(self._understood), []
        if words:
            self._pass({"type": "said", "role": str(Role.CALLER), "text": words})

    def cleared(self) -> None:
        self._pass({"type": "clear"})

    def _pass(self, message: Message) -> None:
        if self._send is not None:
            self._send(message)

    def _about(self, type_: str) -> Json:
        return {
            "type": type_,
            "rate": RATE,
            "piece_ms": PIECE_MS,
            "position_ms": round(self.browser.clock_ms),
            "most_seconds": self.scenario.max_duration_s,
            "most_turns": self.scenario.max_turns,
        }

    # Its life.

    async def _run(self) -> None:
        beating = asyncio.create_task(self._beat())
        ended, again = "agent_failed", False
        try:
            held = await self._held()
            ended, again = held.ended, await sync_to_async(settle)(self.call, held)
        except Exception as error:  # the task's edge: the slot must not stay taken
            log.exception("call %s failed", self.call.pk)
            again = await sync_to_async(_failed)(self.call, f"{type(error).__name__}: {error}")
        finally:
            beating.cancel()
            for task in self._typing:
                task.cancel()
            self._done()
        self._tell_understood()
        self._pass({"type": "ended", "reason": ended, "again": again})

    async def _held(self) -> Held:
        async with asyncio.timeout(self.scenario.max_duration_s + WATCHDOG_S):
            return await hold(
                self._agent,
                self.browser,
                self.scenario,
                SPEED,
                watch=self,
                greets_at_ms=SystemRandom().uniform(*GREETS_AT_MS),
                close=in_background,
            )

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            await sync_to_async(slots.beat)(self.call)


def settle(call: Call, held: Held) -> bool:
    """Keep what was said, or, where nobody answered anybody, nothing. Answers whether the slot may be used again."""
    if not (held.caller_lines and held.agent_lines):
        return _failed(call, held.story or held.ended)
    keep_held(call, held)
    slots.end(call)
    return False


def _failed(call: Call, story: str) -> bool:
    return slots.fail(call, story).status == Call.Status.OPEN
