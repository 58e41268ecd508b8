"""Calls by telegraph, as quickly as they can be computed: frames are their only clock."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from tests.voice.telegraph import TELEGRAPH
from voice.agents.base import Agent
from voice.agents.local import Cascade
from voice.agents.rules import Rules
from voice.calls.caller import ScriptedCaller
from voice.calls.holding import Held, hold
from voice.calls.notes import evaluated
from voice.evaluation.measuring import Metrics
from voice.evaluation.transcript import Transcript
from voice.scenarios.model import Scenario
from voice.scenarios.reading import shipped

SPEED = 1e6
SCENARIOS = shipped()


class Thinks(Protocol):
    @property
    def is_thinking(self) -> bool: ...


class Patient:
    """A cascade for which time stands still while it or `others` think, so that a slow machine changes nothing."""

    def __init__(self, agent: Cascade, others: Sequence[Thinks] = ()) -> None:
        self._agent, self._others = agent, others
        self.open, self.events, self.close = agent.open, agent.events, agent.close

    async def hear(self, audio: bytes) -> None:
        await self._agent.hear(audio)
        while any(each.is_thinking for each in (self._agent, *self._others)):
            await asyncio.sleep(0.001)


async def held(scenario: Scenario, agent: Agent | None = None) -> Held:
    """A call, by default of the scripted caller with the cascade of rules."""
    talks_to = agent or Cascade(TELEGRAPH, Rules)
    return await hold(talks_to, ScriptedCaller(scenario, TELEGRAPH), scenario, SPEED)


def called(scenario: Scenario, agent: Agent | None = None) -> tuple[Held, Transcript, Metrics]:
    """The same, and what is made of it."""
    call = asyncio.run(held(scenario, agent))
    return call, *evaluated(scenario, call, TELEGRAPH.new_detector)
