"""`manage.py call` holds a conversation, keeps it, and computes what is asked of it; it never counts as a vote."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from arena.models import Attempt, Battle, Session, Vote
from tests.ports import free_port
from tests.voice.calls import SPEED, Patient
from tests.voice.model_server import NAME, call, model_server, words
from tests.voice.telegraph import TELEGRAPH, understood
from voice.agents.opening import adapter_of
from voice.calls.holding import hold
from voice.calls.model_caller import ModelCaller
from voice.management.commands import call as command
from voice.models import Conversation, ScenarioRow, VoiceAgent
from voice.speech.audio import read_wav
from voice.speech.parts import SpeechMissing

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def by_telegraph(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Quick speech, and recordings into a folder of the test."""
    monkeypatch.setattr(command, "load_speech", lambda: TELEGRAPH)
    monkeypatch.setattr(command, "hold", partial(hold, speed=SPEED))
    monkeypatch.setitem(settings.VOICE, "recordings", tmp_path / "voice")
    monkeypatch.setitem(settings.VOICE, "model_url", "")
    return tmp_path / "voice"


def called(*arguments: str, **options: Any) -> str:
    said = io.StringIO()
    call_command("call", *arguments, stdout=said, **options)
    return said.getvalue()


def test_a_call_is_kept_with_its_recordings_and_metrics(by_telegraph: Path) -> None:
    told = json.loads(called("haircut", agent="local-rules", json=True))["calls"][0]
    kept = Conversation.objects.get(pk=told["conversation"])
    assert (kept.scenario_id, kept.agent_id, kept.caller, kept.attempt) == ("haircut", "local-rules", "script", None)
    assert (kept.joint_goal_accuracy, kept.task_success, kept.containment) == (1.0, True, True)
    assert kept.ended == "agent_hung_up"
    assert kept.total_turns == 4
    assert kept.turns_to_completion == 3
    assert kept.slots["time"] == {"expected": "16:00", "found": "16:00", "source": "call", "right": True}
    assert kept.turns[1]["role"] == "caller"
    assert kept.transcript_full.splitlines()[1] == "caller: Hello. I would like to book a haircut on Thursday."
    assert [use["tool"] for use in kept.tools] == ["book_appointment"]
    assert kept.p50_latency_ms is not None
    assert kept.p95_latency_ms is not None
    assert kept.ttfb_avg_ms is not None
    assert 700 < kept.ttfb_avg_ms <= kept.p95_latency_ms + 100


def test_the_recordings_can_be_heard(by_telegraph: Path) -> None:
    told = json.loads(called("order_status", agent="local-rules", json=True))["calls"][0]
    caller, agent = (read_wav(Path(path)) for path in told["recordings"])
    assert len(caller) == len(agent) == round(told["duration_s"] * 16_000) * 2
    first = told["turns"][0]
    start, end = (int(first[name] * 16) * 2 for name in ("start_ms", "end_ms"))
    assert understood(agent[max(0, start - 3200) : end + 3200]).startswith("Greenleaf Shop, hello.")


def test_the_recordings_are_for_their_owner_alone(by_telegraph: Path) -> None:
    called("order_status", agent="local-rules")
    kept = [by_telegraph, *by_telegraph.rglob("*")]
    assert len(kept) == 4
    assert [path for path in kept if path.stat().st_mode & 0o077] == []


def test_a_call_belongs_to_no_battle_and_is_no_vote() -> None:
    called("haircut", agent="local-rules")
    assert not any(table.objects.exists() for table in (Session, Battle, Attempt, Vote))


def test_people_read_the_transcript_and_the_figures() -> None:
    said = called("haircut", agent="local-rules")
    assert "A haircut (easy), with Local cascade, rules" in said
    assert "caller  Hello. I would like to book a haircut on Thursday." in said
    tool = next(line for line in said.splitlines() if "book_appointment {" in line)
    assert '"service": "haircut"' in tool  # PostgreSQL orders the keys its own way
    assert '"day": "thursday"' in tool
    assert "Joint goal accuracy 1; criteria all met; success yes; contained yes; 4 turns, done after 3." in said


def test_every_scenario_can_be_called_at_once() -> None:
    told = json.loads(called("all", agent="local-rules", json=True))["calls"]
    assert len({each["scenario"] for each in told}) == len(told) == 10


def test_an_edited_scenario_is_the_one_that_is_called() -> None:
    called("order_status", agent="local-rules")
    row = ScenarioRow.objects.get(pk="order_status")
    row.greeting = "Greenleaf, who is there?"
    row.save()
    assert "Greenleaf, who is there?" in called("order_status", agent="local-rules")


@pytest.mark.parametrize(
    ("arguments", "agent", "told"),
    [
        ("haircut", "nobody", "unknown agent 'nobody'; known are local-language, local-rules, local-rules-hasty, ret"),
        ("dentist", "local-rules", "unknown scenario 'dentist'; known are all, billing, comparison"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(arguments: str, agent: str, told: str) -> None:
    with pytest.raises(CommandError, match=told):
        called(arguments, agent=agent)


def test_missing_speech_says_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise SpeechMissing("hibari-tts: not installed; run `make install-voice`")

    monkeypatch.setattr(command, "load_speech", missing)
    with pytest.raises(CommandError, match="run `make install-voice`"):
        called("haircut", agent="local-rules")
    assert not Conversation.objects.exists()


def test_an_agent_without_a_model_says_which_setting_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="ARENA_VOICE_MODEL_URL"):
        called("haircut", agent="local-language")
    monkeypatch.setitem(settings.VOICE, "model_url", f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(CommandError, match="the language model cannot be reached"):
        called("haircut", agent="local-language")


def test_a_call_with_a_language_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "adapter_of", lambda row, speech: Patient(adapter_of(row, speech)))
    scripts = [call("order_status", {"order": "A7429"}), words("It will come on Saturday."), words("Goodbye.")]
    with model_server(*scripts) as server:
        monkeypatch.setitem(settings.VOICE, "model_url", server.url)
        monkeypatch.setitem(settings.VOICE, "model", NAME)
        told = json.loads(called("order_status", agent="local-language", json=True))["calls"][0]
    assert told["joint_goal_accuracy"] == 1.0
    assert told["criteria"] == {"found": True, "told_day": True}


class Callers(list[ModelCaller]):
    """The callers that the command makes."""

    def make(self, *about: Any) -> ModelCaller:
        self.append(ModelCaller(*about))
        return self[-1]


def test_a_language_model_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    callers = Callers()
    monkeypatch.setattr(command, "ModelCaller", callers.make)
    monkeypatch.setattr(command, "adapter_of", lambda row, speech: Patient(adapter_of(row, speech), callers))
    says = ["A haircut on Thursday at four p.m., please.", "Jordan Miller.", "Yes, please.", "No. Thank you. Goodbye."]
    with model_server(*map(words, says)) as server:
        monkeypatch.setitem(settings.VOICE, "model_url", server.url)
        monkeypatch.setitem(settings.VOICE, "model", NAME)
        told = json.loads(called("haircut", agent="local-rules", caller="model", json=True))["calls"][0]
    assert [turn["text"] for turn in told["turns"] if turn["role"] == "caller"] == says
    assert (told["task_success"], told["ended"]) == (True, "agent_hung_up")
    assert Conversation.objects.get().caller == "model"
    first = server.requests[0]["messages"]
    assert [each["role"] for each in first] == ["system", "user"]
    assert "Jordan Miller" in first[0]["content"]
    assert not any(tool in first[0]["content"] for tool in ("book_appointment", "tools"))
    assert len(server.requests[-1]["messages"]) == 8


def test_a_caller_whose_model_is_missing_or_fails_is_no_fault_of_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match="ARENA_VOICE_MODEL_URL"):
        called("haircut", agent="local-rules", caller="model")
    callers = Callers()
    monkeypatch.setattr(command, "ModelCaller", callers.make)
    monkeypatch.setattr(command, "adapter_of", lambda row, speech: Patient(adapter_of(row, speech), callers))
    monkeypatch.setattr(command, "reachable", AsyncMock())
    with model_server() as server:
        server.status = 500
        monkeypatch.setitem(settings.VOICE, "model_url", server.url)
        with pytest.raises(CommandError, match="the caller: the language model: InternalServerError"):
            called("haircut", agent="local-rules", caller="model")
    assert not Conversation.objects.exists()


def test_the_agent_with_a_model_is_active_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    called("haircut", agent="local-rules")
    agent = VoiceAgent.objects.get(pk="local-language")
    assert (agent.status, agent.kind) == ("unavailable", "voice")
    monkeypatch.setitem(settings.VOICE, "model_url", "http://127.0.0.1:1/v1")
    called("haircut", agent="local-rules")
    agent.refresh_from_db()
    assert agent.status == "active"
