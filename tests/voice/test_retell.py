"""Retell's adapter against a fake that speaks exactly the documented wire."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.voice.calls import SCENARIOS
from tests.voice.retell_server import FakeRetell, fake_retell
from voice import seeding
from voice.agents.base import AgentFailed, Event, Interrupted, SessionEnd, TranscriptUpdate
from voice.agents.hosted import Account
from voice.agents.kinds import check_config
from voice.agents.retell import Retell, Utterances
from voice.calls.holding import hold
from voice.evaluation.transcript import Role
from voice.models import VoiceAgent
from voice.proxy.microphone import Browser

HAIRCUT = SCENARIOS["haircut"]
MADE_OF = {"llm": {"model": "gpt-4.1-mini"}, "voice_id": "11labs-Adrian"}
LOUD = b"\1\2" * 320
HUNG_UP = (1000, "agent_hangup")
AGENT, CALLER = Role.AGENT, Role.CALLER


def agent(fake: FakeRetell) -> Retell:
    return Retell(Account("s3cret", MADE_OF, fake.address))


def said(*lines: tuple[str, str], turn: str = "") -> dict[str, Any]:
    words = [{"role": role, "content": text, "words": []} for role, text in lines]
    return {"event_type": "update", "transcript": words, **({"turntaking": turn} if turn else {})}


async def heard(*script: Any, leaves: tuple[int, str] = HUNG_UP) -> list[Event]:
    async with fake_retell(*script, leaves=leaves) as fake:
        retell = agent(fake)
        await retell.open(HAIRCUT)
        found = [event async for event in retell.events()]
        await retell.close()
        return found


async def test_an_agent_with_the_scenarios_words_is_made_called_and_deleted() -> None:
    async with fake_retell() as fake:
        retell = agent(fake)
        await retell.open(HAIRCUT)
        await retell.close()
        await retell.close()
        await asyncio.wait_for(fake.ended.wait(), 5)
    assert [(request.method, request.path) for request in fake.requests] == [
        ("POST", "/create-retell-llm"),
        ("POST", "/create-agent"),
        ("POST", "/register-call"),
        ("DELETE", "/delete-agent/agent_1"),
        ("DELETE", "/delete-retell-llm/llm_1"),
    ]
    assert {request.authorization for request in fake.requests} == {"Bearer s3cret"}
    llm, made, call = (request.body for request in fake.requests[:3])
    assert (llm["model"], llm["begin_message"], llm["start_speaker"]) == ("gpt-4.1-mini", HAIRCUT.greeting, "agent")
    assert HAIRCUT.system_prompt in llm["general_prompt"]
    assert "book_appointment" in llm["general_prompt"]
    assert made["response_engine"] == {"type": "retell-llm", "llm_id": "llm_1"}
    assert made["voice_id"] == "11labs-Adrian"
    assert call == {
        "agent_id": "agent_1",
        "audio_websocket_protocol": "web",
        "audio_encoding": "s16le",
        "sample_rate": 16000,
    }
    assert fake.socket_path == "/audio-websocket/call_1?enable_update=true"


async def test_a_ping_goes_out_each_five_seconds_of_audio() -> None:
    async with fake_retell() as fake:
        retell = agent(fake)
        await retell.open(HAIRCUT)
        for _ in range(11 * 50):
            await retell.hear(LOUD)
        async with asyncio.timeout(10):
            while len(fake.heard) < 11 * 50 * len(LOUD):
                await asyncio.sleep(0.01)
        await retell.close()
    assert fake.told == ["ping", "ping"]


async def test_messages_become_events_and_others_are_ignored() -> None:
    hello = ("agent", "Hello.")
    found = await heard(
        said(("agent", "Hel")),
        said(hello, turn="user_turn"),
        said(hello),
        "pong",
        {"event_type": "metadata", "metadata": {"x": 1}},
        {"event_type": "something_new"},
        {"event_type": "update", "transcript": "none"},
        said(hello, ("user", "Hi, a")),
        "clear",
        "no JSON",
        "[1, 2]",
        said(hello, ("user", "Hi, a haircut."), ("agent", "Sure.")),
        said(hello, ("user", "Hi, a haircut."), ("agent", "Sure. Bye."), turn="user_turn"),
    )
    assert found == [
        TranscriptUpdate(AGENT, "Hello."),
        Interrupted(),
        TranscriptUpdate(CALLER, "Hi, a haircut."),
        TranscriptUpdate(AGENT, "Sure. Bye."),
        SessionEnd("agent_hung_up", "Retell's socket was closed: 1000 agent_hangup"),
    ]


def test_a_window_that_moves_on_tells_each_utterance_once() -> None:
    spoken = [(AGENT if at % 2 == 0 else CALLER, f"line {at}") for at in range(9)]
    seen, told = Utterances(), []
    for until in range(1, len(spoken) + 1):
        told += seen.update(spoken[max(0, until - 3) : until], None)
    assert told == spoken[:-1]


def test_a_window_of_which_nothing_is_known_is_new() -> None:
    seen = Utterances()
    assert seen.update([(AGENT, "One."), (CALLER, "Two.")], None) == [(AGENT, "One.")]
    assert seen.update([(AGENT, "Five."), (CALLER, "Six."), (AGENT, "Seven.")], None) == [
        (AGENT, "Five."),
        (CALLER, "Six."),
    ]
    assert seen.update([], None) == []


@pytest.mark.parametrize(("code", "end"), [(1000, "agent_hung_up"), (1002, "agent_failed"), (1011, "agent_failed")])
async def test_the_code_of_the_close_tells_failures_from_goodbyes(code: int, end: str) -> None:
    [found] = await heard(leaves=(code, "a reason"))
    assert found == SessionEnd(end, f"Retell's socket was closed: {code} a reason")


async def test_what_was_made_before_a_refusal_is_deleted() -> None:
    async with fake_retell() as fake:
        fake.refused = {"/register-call"}
        retell = agent(fake)
        with pytest.raises(AgentFailed, match="Retell answers 401"):
            await retell.open(HAIRCUT)
        await retell.close()
    deleted = [request.path for request in fake.requests if request.method == "DELETE"]
    assert deleted == ["/delete-agent/agent_1", "/delete-retell-llm/llm_1"]


async def test_an_account_without_the_audio_socket_is_told_what_the_arena_does_not_speak() -> None:
    async with fake_retell() as fake:
        fake.missing = {"/register-call"}
        retell = agent(fake)
        with pytest.raises(AgentFailed, match=r"answers 404, expected 201 \(this account .* web calls need LiveKit"):
            await retell.open(HAIRCUT)


async def test_an_answer_without_an_id() -> None:
    async with fake_retell() as fake:
        fake.body = b'{"llm_id": 7}'
        with pytest.raises(AgentFailed, match="Retell's answer to /create-retell-llm has no llm_id"):
            await agent(fake).open(HAIRCUT)


async def test_a_whole_call_is_held_with_it() -> None:
    lines = [("agent", HAIRCUT.greeting), ("user", "A haircut."), ("agent", "It is booked.")]
    script = [
        LOUD * 20,
        said(*lines[:1], turn="user_turn"),
        said(*lines[:2], turn="agent_turn"),
        LOUD * 20,
        said(*lines),
    ]
    async with fake_retell(*script, leaves=HUNG_UP) as fake:
        browser = Browser(lambda piece: None)
        held = await hold(agent(fake), browser, HAIRCUT, 20.0)
    assert held.ended == "agent_hung_up"
    assert [note.text for note in held.understood] == ["A haircut."]
    assert bytes(held.agent_audio).count(LOUD) == 40


@pytest.mark.django_db
def test_six_configurations_of_providers_are_unavailable_until_their_key_is_there(settings: Any) -> None:
    none = {"vapi": "", "retell": ""}
    assert sorted(seeding.seed_hosted(none)) == sorted(seeding.HOSTED)
    rows = VoiceAgent.objects.filter(pk__in=seeding.HOSTED)
    assert sorted(row.provider for row in rows) == ["retell"] * 3 + ["vapi"] * 3
    for row in rows:
        row.full_clean()
        assert (row.status, row.status_reason) == ("unavailable", f"key: {row.provider.upper()}_API_KEY is not set")
    assert seeding.seed_hosted({**none, "retell": "s3cret"}) == []
    assert {(row.provider, row.status) for row in rows.all()} == {("retell", "active"), ("vapi", "unavailable")}
    seeding.seed_hosted(none)
    assert {row.status for row in rows.all()} == {"unavailable"}


@pytest.mark.parametrize(
    "config",
    [{}, 7, {"mind": "rules"}, {**MADE_OF, "x": 1}, {**MADE_OF, "llm": {}}, {**MADE_OF, "llm": {"model": 7}}],
)
def test_a_configuration_that_is_none_is_refused(config: Any) -> None:
    with pytest.raises(ValueError, match="voice_id"):
        check_config("retell", config)
