"""A judge by a language model: a verdict in one form, or none and the reason."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.voice.calls import SCENARIOS
from tests.voice.model_server import model_server, words
from voice.agents.base import AgentFailed
from voice.agents.judge import SCHEMA, judge, read_verdict
from voice.agents.language import Server
from voice.battles import evaluating
from voice.models import Conversation, ScenarioRow

VERDICT = {
    "task_success": True,
    "coherence": 4,
    "instruction_following": 5,
    "hallucinations": 0,
    "explanation": "Booked as asked.",
}
TURNS = [{"role": "agent", "text": "Hello?"}, {"role": "caller", "text": "A haircut, please."}]
TOOLS = [{"tool": "book_appointment", "arguments": {"day": "thursday"}, "done": True, "at_ms": 10.0}]


async def test_a_verdict_is_asked_for_by_its_schema_and_read() -> None:
    with model_server(words(json.dumps(VERDICT)[:20], json.dumps(VERDICT)[20:])) as server:
        said = await judge(SCENARIOS["haircut"], TURNS, TOOLS, Server(server.url, "judge-1"))
    assert said == VERDICT
    [asked] = server.requests
    assert asked["response_format"]["json_schema"]["schema"] == SCHEMA
    assert "A haircut, please." in asked["messages"][1]["content"]
    assert "book_appointment" in asked["messages"][1]["content"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Sure! The agent did well.", "expected one JSON object"),
        ("[]", "expected an object with task_success"),
        (json.dumps({**VERDICT, "coherence": 9}), "coherence: expected a whole number, 1..5, got 9"),
        (json.dumps({**VERDICT, "hallucinations": True}), "hallucinations: expected a whole number"),
        (json.dumps({**VERDICT, "task_success": "yes"}), "task_success as true or false"),
        (json.dumps({**VERDICT, "jga": 1}), "expected an object with"),
    ],
)
def test_what_is_no_verdict_is_refused_with_what_would_have_been_right(said: str, told: str) -> None:
    with pytest.raises(AgentFailed, match=told):
        read_verdict(said)


def row() -> Conversation:
    return Conversation(scenario=ScenarioRow(**_columns()), tools=TOOLS)


def _columns() -> dict[str, Any]:
    from simulation.catalogue_rows import read_rows
    from voice.scenarios.reading import FOLDER
    from voice.seeding import _columns as columns

    rows = read_rows((FOLDER / "booking.yaml").read_text("utf-8"), "booking.yaml")
    return columns(dict(next(each for each in rows if each["id"] == "haircut")))


def test_without_a_judge_the_verdict_is_null_with_the_reason(settings: Any) -> None:
    settings.VOICE = {**settings.VOICE, "judge_url": ""}
    assert evaluating.judged_by_model(row(), TURNS) == (None, evaluating.NO_JUDGE)


def test_a_judge_that_refuses_or_talks_leaves_null_with_the_reason(settings: Any) -> None:
    with model_server(words("I think it went well."), words(json.dumps(VERDICT))) as server:
        settings.VOICE = {**settings.VOICE, "judge_url": server.url, "judge_model": "judge-1"}
        assert evaluating.judged_by_model(row(), TURNS) == (None, evaluating.JUDGE_FAILED)
        assert evaluating.judged_by_model(row(), TURNS) == (VERDICT, "")
        server.status = 503
        assert evaluating.judged_by_model(row(), TURNS) == (None, evaluating.JUDGE_FAILED)
