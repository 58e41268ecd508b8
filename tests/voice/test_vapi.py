"""Vapi's documented wire, against a fake that speaks it: what is sent, and what comes of each message."""

from __future__ import annotations

from typing import Any

import pytest

from tests.voice.calls import SCENARIOS
from tests.voice.vapi_server import FakeVapi, fake_vapi
from voice.agents.base import AgentFailed, Event, Interrupted, SessionEnd, ToolCall, TranscriptUpdate
from voice.agents.hosted import Account
from voice.agents.kinds import check_config
from voice.agents.vapi import Vapi
from voice.evaluation.transcript import Role

HAIRCUT = SCENARIOS["haircut"]
MADE_OF = {
    "model": {"provider": "openai", "model": "gpt-4o-mini"},
    "voice": {"provider": "11labs", "voiceId": "burt"},
    "transcriber": {"provider": "deepgram", "model": "nova-2"},
}
ENDED = {"type": "status-update", "status": "ended", "endedReason": "assistant-ended-call"}
LOUD = b"\1\2" * 320


def agent(fake: FakeVapi) -> Vapi:
    return Vapi(Account("s3cret", MADE_OF, fake.address))


async def heard(*script: Any, leaves: tuple[int, str] | None = None) -> list[Event]:
    async with fake_vapi(*script, leaves=leaves) as fake:
        vapi = agent(fake)
        await vapi.open(HAIRCUT)
        found = [event async for event in vapi.events()]
        await vapi.close()
        return found


async def test_a_call_is_made_with_the_key_the_scenario_and_our_audio() -> None:
    async with fake_vapi(ENDED) as fake:
        vapi = agent(fake)
        await vapi.open(HAIRCUT)
        await vapi.close()
    [request] = fake.requests
    asked = request.body
    assert request.authorization == "Bearer s3cret"
    assert asked["transport"]["audioFormat"] == {"format": "pcm_s16le", "container": "raw", "sampleRate": 16000}
    assert asked["assistant"]["firstMessage"] == HAIRCUT.greeting
    assert asked["assistant"]["voice"] == MADE_OF["voice"]
    told = asked["assistant"]["model"]["messages"][0]["content"]
    assert HAIRCUT.system_prompt in told
    assert "book_appointment" in told


async def test_messages_become_events_and_others_are_ignored() -> None:
    said = {"type": "transcript", "transcriptType": "final", "transcript": "Hello."}
    tool = {"name": "book_appointment", "arguments": '{"service": "haircut", "day": "Thursday", "time": "4 pm"}'}
    found = await heard(
        {**said, "role": "assistant", "transcriptType": "partial"},
        {**said, "role": "assistant"},
        {**said, "role": "user", "transcript": "Hi."},
        {**said, "role": "system"},
        {"type": "hang"},
        {"type": "speech-update", "status": "started", "role": "assistant"},
        {"type": "something-new", "x": [1]},
        "no JSON",
        "[1, 2]",
        {"type": "user-interrupted", "turnId": "1"},
        {"type": "tool-calls", "toolCallList": [{"id": "1", "function": tool}, {"function": {"name": "dance"}}, 7]},
        ENDED,
    )
    assert found[:3] == [TranscriptUpdate(Role.AGENT, "Hello."), TranscriptUpdate(Role.CALLER, "Hi."), Interrupted()]
    assert isinstance(found[3], ToolCall)
    assert (found[3].tool, found[3].done) == ("book_appointment", True)
    assert found[3].arguments["time"] == "16:00"
    assert found[4:] == [SessionEnd("agent_hung_up", "assistant-ended-call")]


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("customer-ended-call", "agent_hung_up"),
        ("pipeline-error-openai-llm-failed", "agent_failed"),
        ("", "agent_failed"),
    ],
)
async def test_the_reason_of_an_end_tells_failures_from_goodbyes(reason: str, end: str) -> None:
    [found] = await heard({**ENDED, "endedReason": reason})
    assert found == SessionEnd(end, reason)


async def test_a_socket_that_is_closed_ends_the_call() -> None:
    [*_, last] = await heard(LOUD, leaves=(1000, ""))
    assert isinstance(last, SessionEnd)
    assert last.reason == "agent_failed"


async def test_an_answer_without_a_socket_and_a_socket_that_is_not_there() -> None:
    async with fake_vapi() as fake:
        fake.body = b'{"id": "call-1"}'
        with pytest.raises(AgentFailed, match=r"no transport\.websocketCallUrl"):
            await agent(fake).open(HAIRCUT)
        fake.body, fake.socket_address = b"", "ws://127.0.0.1:9"
        with pytest.raises(AgentFailed, match="Vapi's socket"):
            await agent(fake).open(HAIRCUT)


@pytest.mark.parametrize("config", [{}, {"mind": "rules"}, {**MADE_OF, "voice": "burt"}, {**MADE_OF, "x": {}}, 7])
def test_a_configuration_that_is_none_is_refused(config: Any) -> None:
    with pytest.raises(ValueError, match="model, transcriber, voice"):
        check_config("vapi", config)
