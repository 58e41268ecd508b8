"""Judge against people: how often both prefer the same side."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from arena.models import Battle, Vote
from rankings.publication import aggregation
from rankings.votes import ledger
from tests.voice.battles import call_both
from tests.voice.wire import Office, open_office
from voice.battles import evaluating
from voice.evaluation.agreement import agreement, preferred
from voice.models import Conversation

GOOD = {"task_success": True, "coherence": 4, "instruction_following": 4, "hallucinations": 1, "explanation": ""}


@pytest.mark.parametrize(
    ("other", "side"),
    [
        ({}, "neither"),
        ({"task_success": False, "coherence": 5, "hallucinations": 0}, "left"),
        ({"coherence": 5}, "right"),
        ({"coherence": 5, "instruction_following": 3}, "neither"),
        ({"hallucinations": 2}, "left"),
    ],
)
def test_a_done_task_weighs_more_than_manners_and_these_more_than_inventions(other: dict[str, Any], side: str) -> None:
    assert preferred(GOOD, {**GOOD, **other}) == side


def test_agreement_is_told_beside_what_chance_gives() -> None:
    pairs = [("left", "left")] * 20 + [("left", "right")] * 5 + [("right", "left")] * 10 + [("right", "right")] * 15
    found = agreement(pairs)
    assert found is not None
    assert (found.battles, found.share) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4), "the textbook's example"
    assert found.low < 0.7 < found.high
    assert agreement([]) is None
    always = agreement([("left", "left")])
    assert always is not None
    assert always.kappa is None


@pytest.mark.django_db(transaction=True)
def test_the_command_compares_votes_with_both_verdicts(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(evaluating, "ask", [].append)
    settings.VOICE = {**settings.VOICE, "recordings": tmp_path}
    office: Office = open_office(monkeypatch)
    call_both(office.battle_id)
    assert "No voted battle has two verdicts" in told()
    office.house.play(office.visitor.send(office.battle_id, "Haircut"))
    office.visitor.post("votes", {"battle_id": office.battle_id, "vote": "right_better"})
    Conversation.objects.filter(agent_label="a").update(judge={**GOOD, "coherence": 1})
    assert "No voted battle" in told(), "one verdict is none"
    Conversation.objects.filter(agent_label="b").update(judge=GOOD)
    assert "agree in 100% of 1 battles" in told()
    assert json.loads(told("--json"))["battles"] == 1
    aggregation.aggregate()
    assert "In 100 % of 1 voted battle people and the judge say the same (95 %: 21 to 100 %)." in checks_page()
    report = Client().get("/api/leaderboard/report", {"kind": "voice"}).json()["judge"]
    assert (report["battles"], report["share"], report["missing"]) == (1, 1.0, "")
    ledger.exclude_voter(Vote.objects.get().user_id)
    assert "No voted battle" in told(), "what counts nowhere is not compared"
    ledger.restore_voter(Vote.objects.get().user_id)
    Battle.objects.update(spoiled=True)
    assert "No voted battle" in told()
    settings.VOICE = {**settings.VOICE, "judge_url": ""}
    aggregation.rebuild()
    assert "this site has no judge by a language model" in checks_page()
    settings.VOICE = {**settings.VOICE, "judge_url": "http://127.0.0.1:1/v1"}
    aggregation.rebuild()
    assert "the judge has read both sides of no voted battle" in checks_page()


def checks_page() -> str:
    return Client().get("/leaderboard/checks", {"kind": "voice"}).content.decode()


@pytest.mark.django_db
def test_kinds_without_a_judge_show_nothing_of_one() -> None:
    aggregation.aggregate()
    assert "the judge" not in Client().get("/leaderboard/checks").content.decode()
    assert Client().get("/api/leaderboard/report").json()["judge"] is None


def told(*arguments: str) -> str:
    said = io.StringIO()
    call_command("judge_agreement", *arguments, stdout=said)
    return said.getvalue()
