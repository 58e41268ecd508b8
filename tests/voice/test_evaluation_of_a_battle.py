"""After the vote both calls are evaluated: first what recordings tell, then their words. Nothing of it comes before."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from arena import retention
from arena.live import events
from arena.models import Battle
from people import own_data
from people.own_data import Owner
from tests.arena.conftest import Visitor
from tests.voice.battles import call_both
from tests.voice.telegraph import TELEGRAPH
from tests.voice.wire import Office, open_office
from voice.battles import evaluating
from voice.calls import keeping
from voice.models import Call, Conversation
from voice.speech import models
from voice.speech.audio import read_wav
from voice.speech.opus import read_opus, write_opus

SIDES = ("left", "right")


@pytest.fixture
def office(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path, asked: list[str]
) -> Office:
    opened = open_office(monkeypatch)
    settings.VOICE = {**settings.VOICE, "recordings": tmp_path}
    monkeypatch.setattr(models, "new_detector", TELEGRAPH.new_detector)
    monkeypatch.setattr(models, "load_speech", lambda: TELEGRAPH)
    call_both(opened.battle_id)
    return opened


def turn_of(office: Office) -> dict[str, Any]:
    turn = office.visitor.send(office.battle_id, "Haircut")
    office.house.play(turn)
    return turn


def vote(office: Office) -> dict[str, Any]:
    turn = turn_of(office)
    voted = office.visitor.post("votes", {"battle_id": office.battle_id, "vote": "left_better"})
    assert voted.status_code == 201, voted.content
    return turn


def metrics(office: Office, visitor: Visitor | None = None) -> Any:
    return (visitor or office.visitor).get(f"battles/{office.battle_id}/agent-metrics")


def test_the_vote_asks_for_the_evaluation_and_reading_the_figures_does_not(office: Office, asked: list[str]) -> None:
    turn_of(office)
    assert metrics(office).json()["code"] == "not_voted"
    assert asked == []
    office.visitor.post("votes", {"battle_id": office.battle_id, "vote": "tie"})
    assert asked == [office.battle_id]
    assert metrics(office).json()["status"] == "computing"
    assert asked == [office.battle_id]


def test_figures_fill_in_partial_then_complete_and_pages_are_told(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    vote(office)
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(
        events,
        "publish",
        lambda battle_id, event, **how: told.append(
            (event["type"], event["turns"][0]["left"]["outcome"]["evaluation"])
        ),
    )
    evaluating.evaluate_battle(office.battle_id)
    assert told == [("battle.evaluated", "partial"), ("battle.evaluated", "complete")]
    found = metrics(office).json()
    assert found["status"] == "complete"
    for label in ("a", "b"):
        assert found[label]["p50_latency_ms"] > 0
        assert found[label]["p95_latency_ms"] >= found[label]["p50_latency_ms"]
        assert found[label]["total_turns"] > 0
        assert found[label]["joint_goal_accuracy"] in (0, 1)
        assert found[label]["slots"]
        assert (found[label]["judge"], found[label]["judge_missing"] != "") == (None, True)
    outcome = office.visitor.battle(office.battle_id)["turns"][0]["left"]["outcome"]
    assert outcome["evaluation"] == "complete"
    assert outcome["slots_required"] == len(found["a"]["slots"])


def test_the_words_are_those_that_a_recogniser_hears_in_both_recordings(office: Office) -> None:
    vote(office)
    evaluating.evaluate_battle(office.battle_id)
    for held in Conversation.objects.all():
        for turn in held.turns:
            assert turn["text"], "every line has words"
            assert turn["heard"], "and what was understood of it"


def test_where_recordings_are_gone_the_state_says_so_and_the_other_call_is_evaluated(
    office: Office, tmp_path: Path
) -> None:
    vote(office)
    lost = Conversation.objects.get(agent_label="a")
    (tmp_path / lost.user_audio_path).unlink()
    evaluating.evaluate_battle(office.battle_id)
    assert dict(Conversation.objects.values_list("agent_label", "evaluation")) == {"a": "failed", "b": "complete"}
    assert metrics(office).json()["status"] == "failed"


def heard_by(visitor: Visitor, address: str, kind: str = "audio/wav") -> bytes:
    answer = visitor.get(address)
    assert (answer.status_code, answer["Content-Type"]) == (200, kind)
    audio = b"".join(answer.streaming_content)  # type: ignore[attr-defined] # of a file
    answer.close()
    return audio


def test_recordings_come_with_the_vote_and_to_others_only_where_it_was_allowed(office: Office) -> None:
    turn = turn_of(office)
    address = f"episodes/{turn['left_episode_id']}/agent-audio"
    assert office.visitor.get(address).json()["code"] == "not_voted"
    office.visitor.post("votes", {"battle_id": office.battle_id, "vote": "tie"})
    assert heard_by(office.visitor, address)[:4] == heard_by(Visitor(), address)[:4] == b"RIFF"
    Call.objects.update(may_publish=False)
    assert Visitor().get(address).status_code == 404
    assert heard_by(office.visitor, address)


def test_an_evaluated_call_is_kept_as_opus_that_lasts_as_long(office: Office, tmp_path: Path) -> None:
    turn = vote(office)
    wavs = {path.parent: len(read_wav(path)) for path in tmp_path.rglob("agent.wav")}
    evaluating.evaluate_battle(office.battle_id)
    assert {path.parent: len(read_opus(path)) for path in tmp_path.rglob("agent.opus")} == wavs
    assert {path.suffix for path in paths(tmp_path)} == {".opus"}
    assert [path for path in paths(tmp_path) if path.stat().st_mode & 0o077] == []
    address = f"episodes/{turn['left_episode_id']}/agent-audio"
    assert heard_by(office.visitor, address, "audio/ogg")[:4] == b"OggS"


def test_where_opus_cannot_be_written_the_recordings_stay_as_they_are(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, audio: bytes) -> None:
        path.touch()
        raise OSError("no space left")

    vote(office)
    monkeypatch.setattr(keeping, "write_opus", full)
    evaluating.evaluate_battle(office.battle_id)
    assert metrics(office).json()["status"] == "complete"
    assert {Path(held.agent_audio_path).suffix for held in Conversation.objects.all()} == {".wav"}


def test_opus_keeps_every_moment_where_it_was(tmp_path: Path) -> None:
    audio = np.zeros(48_001, "<i2")
    for at in (5_000, 20_000, 40_000):
        audio[at : at + 800] = np.sin(np.arange(800) / 3) * 12_000
    write_opus(tmp_path / "call.opus", audio.tobytes())
    found = np.frombuffer(read_opus(tmp_path / "call.opus"), "<i2")
    assert abs(len(found) - len(audio)) <= 16
    for at in (5_000, 20_000, 40_000):
        onset = at - 500 + int(np.argmax(np.abs(found[at - 500 : at + 500]) > 3_000))
        assert abs(onset - at) < 64, "4 ms"
    assert (tmp_path / "call.opus").stat().st_size < audio.nbytes / 4
    (tmp_path / "text.opus").write_text("no audio")
    with pytest.raises(ValueError, match=r"text\.opus"):
        read_opus(tmp_path / "text.opus")


def paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in (".wav", ".opus"))


def test_recordings_of_calls_without_a_vote_expire_with_those_of_the_site(office: Office, tmp_path: Path) -> None:
    assert len(paths(tmp_path)) == 4
    Battle.objects.update(updated_at=timezone.now() - timedelta(days=400))
    retention.expire(days=365, grace=timedelta())
    assert paths(tmp_path) == []
    assert all(held.turns == [] for held in Conversation.objects.all())


def test_recordings_of_a_turn_without_a_vote_expire_too(office: Office, tmp_path: Path) -> None:
    turn_of(office)
    Battle.objects.update(updated_at=timezone.now() - timedelta(days=400))
    retention.expire(days=365, grace=timedelta())
    assert paths(tmp_path) == []


def test_recordings_of_voted_battles_expire_by_their_own_rule_and_words_and_figures_stay(
    office: Office, tmp_path: Path, settings: Any
) -> None:
    turn = vote(office)
    evaluating.evaluate_battle(office.battle_id)
    Conversation.objects.update(created_at=timezone.now() - timedelta(days=50))
    settings.VOICE = {**settings.VOICE, "recording_days": 0}
    retention.expire()
    assert len(paths(tmp_path)) == 4
    settings.VOICE = {**settings.VOICE, "recording_days": 30}
    retention.expire()
    assert paths(tmp_path) == []
    assert metrics(office).json()["status"] == "complete"
    assert office.visitor.get(f"episodes/{turn['left_episode_id']}").json()["lines"]
    assert office.visitor.get(f"episodes/{turn['left_episode_id']}/agent-audio").status_code == 410


def test_who_deletes_their_data_deletes_voice_and_words(office: Office, tmp_path: Path) -> None:
    turn = vote(office)
    address = f"episodes/{turn['left_episode_id']}"
    assert Visitor().get(address).json()["lines"]
    visitor = Battle.objects.select_related("session").get(battle_id=office.battle_id).session.user_id
    exported = "".join(own_data.export(Owner(visitor=visitor)))
    assert '"calls": [' in exported
    assert "Hello" in exported or "Good day" in exported
    assert "the-famous-one" not in exported.split('"calls"')[1].split("]")[0]
    own_data.forget(Owner(visitor=visitor))
    assert Visitor().get(address).json()["lines"] == []
    assert paths(tmp_path) == []
    assert all(held.turns == [] for held in Conversation.objects.all())
