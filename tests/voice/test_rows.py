"""Scenarios and agents in the admin are checked as their files are."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from tests.voice.calls import SCENARIOS
from voice import seeding
from voice.models import ScenarioRow, VoiceAgent

pytestmark = pytest.mark.django_db


def test_the_files_are_entered_once_and_read_back_whole() -> None:
    assert len(seeding.seed_scenarios()) == 10
    assert seeding.seed_scenarios() == []
    assert {row.pk: row.read() for row in ScenarioRow.objects.all()} == SCENARIOS


def test_what_was_edited_stays() -> None:
    seeding.seed_scenarios()
    ScenarioRow.objects.filter(pk="haircut").update(name="A trim")
    seeding.seed_scenarios()
    assert ScenarioRow.objects.get(pk="haircut").name == "A trim"


def test_every_row_is_valid() -> None:
    seeding.seed_scenarios()
    seeding.seed_agents(has_model=True)
    for row in (*ScenarioRow.objects.all(), *VoiceAgent.objects.all()):
        row.full_clean()


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("required_slots", {"order": "seven"}, "order: expected a code like"),
        ("tools_available", [], "tools: expected a list of mappings"),
        ("success_criteria", [{"id": "found", "calls": "look"}], "unknown tool 'look'; known are order_status"),
        ("caller", {"opening": "Hello."}, "answers is missing"),
        ("max_duration_seconds", 601, "max_duration_seconds: expected at most 600, got 601"),
    ],
)
def test_a_row_that_is_no_scenario_is_refused(column: str, value: object, told: str) -> None:
    seeding.seed_scenarios()
    row = ScenarioRow.objects.get(pk="order_status")
    setattr(row, column, value)
    with pytest.raises(ValidationError, match=told):
        row.full_clean()


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"mind": "magic"}, "mind: expected one of rules, language, got 'magic'"),
        ({}, "mind: expected one of rules, language, got None"),
        ({"mind": "rules", "voice": "heart"}, "expected a mapping with any of end_ms, extra_body, mind, tools"),
        ({"mind": "rules", "end_ms": 20}, "end_ms: expected a whole number, 200..3000, got 20"),
        ({"mind": "language", "tools": "yes"}, "tools: expected true or false, got 'yes'"),
        ([], "expected a mapping"),
    ],
)
def test_an_agent_that_cannot_be_opened_is_refused(config: object, told: str) -> None:
    seeding.seed_agents(has_model=True)
    agent = VoiceAgent.objects.get(pk="local-rules")
    agent.config = config
    with pytest.raises(ValidationError, match=told):
        agent.full_clean()


def test_a_moderators_reason_stays() -> None:
    seeding.seed_agents(has_model=True)
    VoiceAgent.objects.get(pk="local-language").retire("too rude")
    seeding.seed_agents(has_model=False)
    seeding.seed_agents(has_model=True)
    agent = VoiceAgent.objects.get(pk="local-language")
    assert (agent.status, agent.status_reason) == ("retired", "too rude")
