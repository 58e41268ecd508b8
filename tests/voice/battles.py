"""Voice battles in tests: voice turned on, two agents that differ, and calls by telegraph."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import cache

import pytest
from django.conf import settings

from arena.models import Battle
from tests.voice.calls import SCENARIOS, held
from tests.voice.telegraph import TELEGRAPH
from voice import offered, seeding
from voice.agents.base import Agent
from voice.agents.local import Cascade
from voice.agents.rules import Rules
from voice.battles import slots
from voice.calls.holding import Held
from voice.models import ScenarioRow, VoiceAgent
from voice.proxy.live import settle
from voice.scenarios.model import Scenario

SHORT = replace(SCENARIOS["haircut"], max_duration_s=12)
"""Long enough for a greeting and an answer or two."""


def turn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where ARENA_KINDS names voice and the packages of speech are installed. Enters the scenarios."""
    monkeypatch.setattr(settings, "KINDS", ["robots", "text", "voice"])
    monkeypatch.setattr(offered, "_lacking", tuple)
    if not ScenarioRow.objects.exists():
        seeding.seed_scenarios()


def agents() -> tuple[VoiceAgent, VoiceAgent]:
    common = {"provider": "local", "config": {"mind": "rules"}}
    kept = VoiceAgent.objects.create(id="the-swift-one", name="Swift", components={"stt": "Whisper"}, **common)
    other = VoiceAgent.objects.create(id="the-famous-one", name="Slow and famous", family="famous", **common)
    return kept, other


class Repeats(Cascade):
    """Says another greeting than the scenario's."""

    def __init__(self) -> None:
        super().__init__(TELEGRAPH, Rules)

    async def open(self, scenario: Scenario) -> None:
        await super().open(replace(scenario, greeting="Good day, you have reached us."))


@cache
def _call_with(agent_id: str) -> Held:
    agent: Agent = Repeats() if agent_id == "the-famous-one" else Cascade(TELEGRAPH, Rules)
    return asyncio.run(held(SHORT, agent))


def call_both(battle_id: str) -> None:
    """Hold both calls of a battle by script, and settle them as the process that holds calls does."""
    battle = Battle.objects.select_related("session", "left_model", "right_model").get(battle_id=battle_id)
    for label in slots.LABELS:
        opened = slots.open_slot(battle, label, consent=True, may_publish=True)
        call = slots.claim(opened.pk, opened.tries)
        assert call is not None
        agent_id = getattr(battle, f"{call.side}_model_id")
        assert settle(call, _call_with(agent_id)) is False
