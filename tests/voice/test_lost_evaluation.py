"""An evaluation that was lost, with its message or its worker, is asked for again, and only then."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from arena.models import Vote
from tests.voice.battles import call_both
from tests.voice.wire import Office, open_office
from voice import tasks
from voice.battles import evaluating
from voice.models import Conversation

pytestmark = pytest.mark.django_db(transaction=True)
States = Conversation.Evaluation


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path, asked: list[str]) -> Office:
    settings.VOICE = {**settings.VOICE, "recordings": tmp_path}
    office = open_office(monkeypatch)
    call_both(office.battle_id)
    office.house.play(office.visitor.send(office.battle_id, "Haircut"))
    office.visitor.post("votes", {"battle_id": office.battle_id, "vote": "tie"})
    asked.clear()
    return office


def voted(ago: timedelta) -> None:
    vote = Vote.objects.get()
    Vote.objects.update(voted_at=vote.voted_at - ago)


def test_one_that_has_not_ended_is_asked_for_again(office: Office, asked: list[str]) -> None:
    tasks.evaluate_again()
    assert asked == [], "it may still be in the queue"
    voted(evaluating.LATE)
    tasks.evaluate_again()
    assert asked == [office.battle_id], "once for both calls"


@pytest.mark.parametrize("state", [States.COMPLETE, States.FAILED])
def test_one_that_has_ended_is_not(office: Office, asked: list[str], state: str) -> None:
    Conversation.objects.update(evaluation=state)
    voted(evaluating.LATE)
    tasks.evaluate_again()
    assert asked == []


def test_one_that_never_ends_is_given_up(office: Office, asked: list[str]) -> None:
    voted(evaluating.HOPELESS)
    tasks.evaluate_again()
    assert asked == []
