"""A call of which one recording alone is left: nobody hears half of a call, and what is left is deleted as all are."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from tests.voice.battles import call_both
from tests.voice.wire import Office, open_office
from voice.battles import evaluating
from voice.calls import keeping
from voice.models import Conversation

pytestmark = pytest.mark.django_db(transaction=True)
COLUMNS = ("user_audio_path", "agent_audio_path")


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Office:
    settings.VOICE = {**settings.VOICE, "recordings": tmp_path, "recording_days": 90}
    monkeypatch.setattr(evaluating, "ask", [].append)
    office = open_office(monkeypatch)
    call_both(office.battle_id)
    office.house.play(office.visitor.send(office.battle_id, "Haircut"))
    office.visitor.post("votes", {"battle_id": office.battle_id, "vote": "tie"})
    return office


def without(column: str, base: Path) -> Conversation:
    """The first call, of which this recording is gone."""
    kept = Conversation.objects.earliest("pk")
    (base / getattr(kept, column)).unlink()
    setattr(kept, column, "")
    kept.save()
    return kept


@pytest.mark.parametrize("column", COLUMNS)
def test_nobody_hears_half_of_a_call(office: Office, tmp_path: Path, column: str) -> None:
    kept = without(column, tmp_path)
    episode = office.visitor.get(f"episodes/{kept.attempt_id}").json()
    assert episode["audio"] is None
    gone = {"user_audio_path": "caller", "agent_audio_path": "agent"}[column]
    refused = office.visitor.get(f"episodes/{kept.attempt_id}/{gone}-audio")
    assert (refused.status_code, refused.json()["code"]) == (410, "episode_expired")
    other = Conversation.objects.latest("pk")
    assert office.visitor.get(f"episodes/{other.attempt_id}").json()["audio"] is not None


@pytest.mark.parametrize("column", COLUMNS)
def test_its_evaluation_fails_and_that_of_the_other_call_does_not(office: Office, tmp_path: Path, column: str) -> None:
    kept = without(column, tmp_path)
    evaluating._step(kept, evaluating._measure)
    assert kept.evaluation == Conversation.Evaluation.FAILED
    other = Conversation.objects.latest("pk")
    assert other.evaluation == Conversation.Evaluation.COMPUTING


def forgotten(kept: Conversation) -> None:
    keeping.forget([kept.attempt_id])


def expired(kept: Conversation) -> None:
    Conversation.objects.update(created_at=timezone.now() - timedelta(days=91))
    keeping.expire(None)


@pytest.mark.parametrize("deleted", [forgotten, expired])
@pytest.mark.parametrize("column", COLUMNS)
def test_the_one_that_is_left_is_deleted(
    office: Office, tmp_path: Path, column: str, deleted: Callable[[Conversation], None]
) -> None:
    kept = without(column, tmp_path)
    folder = (tmp_path / (kept.user_audio_path or kept.agent_audio_path)).parent
    assert len(list(folder.iterdir())) == 1
    deleted(kept)
    assert not folder.exists()
    kept.refresh_from_db()
    assert (kept.user_audio_path, kept.agent_audio_path) == ("", "")
