"""Calls by telegraph, as quickly as they can be computed: frames are their only clock."""

from __future__ import annotations

import asyncio

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


async def held(scenario: Scenario, agent: Agent | None = None, speed: float = SPEED) -> Held:
    """A call, by default of the scripted caller with the cascade of rules."""
    talks_to = agent or Cascade(TELEGRAPH, Rules)
    return await hold(talks_to, ScriptedCaller(scenario, TELEGRAPH), scenario, speed)


def called(scenario: Scenario, agent: Agent | None = None, speed: float = SPEED) -> tuple[Held, Transcript, Metrics]:
    """The same, and what is made of it."""
    call = asyncio.run(held(scenario, agent, speed))
    return call, *evaluated(scenario, call, TELEGRAPH.new_detector)
