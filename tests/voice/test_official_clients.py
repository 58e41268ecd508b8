"""The providers' own clients, pointed at the fakes: what they send is what our adapters send, and they understand what
the fakes answer. So the fakes are as the clients know the providers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import retell as retell_sdk
from pydantic import TypeAdapter, ValidationError
from retell.types import AgentCreateParams, LlmCreateParams
from vapi import Vapi as VapiClient
from vapi.core.api_error import ApiError
from vapi.types import Call

from tests.voice.calls import SCENARIOS
from tests.voice.provider import FakeProvider, Request
from tests.voice.retell_server import fake_retell
from tests.voice.vapi_server import fake_vapi
from voice import seeding
from voice.agents import retell, vapi
from voice.agents.hosted import Account

KEY = "s3cret"
HAIRCUT = SCENARIOS["haircut"]
VAPI = [about["config"] for about in seeding.HOSTED.values() if about["provider"] == "vapi"]
RETELL = [about["config"] for about in seeding.HOSTED.values() if about["provider"] == "retell"]


async def at(fake: FakeProvider, use: Callable[[], Any]) -> Any:
    """What a client answers, while the fake goes on."""
    return await asyncio.to_thread(use)


def of(requests: list[Request], path: str) -> Request:
    """The first request of a path."""
    return next(each for each in requests if each.path == path)


@pytest.mark.parametrize("made_of", VAPI)
async def test_vapis_client_makes_the_call_that_our_adapter_makes(made_of: dict[str, Any]) -> None:
    async with fake_vapi() as ours:
        agent = vapi.Vapi(Account(KEY, made_of, ours.address))
        await agent.open(HAIRCUT)
        await agent.close()
    async with fake_vapi() as theirs:
        client = VapiClient(token=KEY, base_url=theirs.address)
        made = await at(theirs, lambda: client.calls.create(**vapi.request_body(HAIRCUT, made_of)))
        told = await at(theirs, lambda: client.calls.get(made.id))
        listed = await at(theirs, client.calls.list)
    assert ours.requests[0] == theirs.requests[0], "the same method, path, body and key"
    assert isinstance(made, Call)
    assert (made.type, made.status) == ("vapi.websocketCall", "queued")
    assert (told.id, [each.id for each in listed]) == (made.id, [made.id])
    assert made.assistant is None or made.assistant.first_message == HAIRCUT.greeting


async def test_vapis_client_tells_a_refusal_of_the_fake_as_one_of_vapi() -> None:
    async with fake_vapi() as fake:
        fake.status, fake.body = 401, b'{"message": "Invalid Key", "statusCode": 401}'
        with pytest.raises(ApiError) as refused:
            await at(fake, VapiClient(token="wrong", base_url=fake.address).calls.list)
    assert refused.value.status_code == 401


@pytest.mark.parametrize("made_of", RETELL)
async def test_retells_client_makes_what_our_adapter_makes(made_of: dict[str, Any]) -> None:
    async with fake_retell() as ours:
        agent = retell.Retell(Account(KEY, made_of, ours.address))
        await agent.open(HAIRCUT)
        await agent.close()
    async with fake_retell() as theirs:
        client = retell_sdk.Retell(api_key=KEY, base_url=theirs.address, max_retries=0)
        llm = await at(theirs, lambda: client.llm.create(**retell.llm_body(HAIRCUT, made_of["llm"])))
        made = await at(theirs, lambda: client.agent.create(**retell.agent_body(HAIRCUT, made_of, llm.llm_id)))
        read = await at(theirs, lambda: client.agent.retrieve(made.agent_id))
        await at(theirs, lambda: client.agent.delete(made.agent_id))
        await at(theirs, lambda: client.llm.delete(llm.llm_id))
    assert (llm.general_prompt, made.voice_id, read.agent_id) == (
        retell.prompt_of(HAIRCUT),
        made_of["voice_id"],
        "agent_1",
    )
    own = {(each.method, each.path): each for each in ours.requests}
    for each in theirs.requests:
        if each.method in ("POST", "DELETE"):
            assert own[each.method, each.path] == each


@pytest.mark.parametrize("made_of", RETELL)
def test_what_our_adapter_sends_retell_is_of_the_types_of_its_client(made_of: dict[str, Any]) -> None:
    """They have every field and every value that may be there, such as the names of models."""
    check(LlmCreateParams, retell.llm_body(HAIRCUT, made_of["llm"]))
    check(AgentCreateParams, retell.agent_body(HAIRCUT, made_of, "llm_1"))
    with pytest.raises(ValidationError):
        check(LlmCreateParams, {**retell.llm_body(HAIRCUT, made_of["llm"]), "start_speaker": "nobody"})


def check(shape: Any, value: dict[str, Any]) -> None:
    unknown = value.keys() - shape.__annotations__.keys()
    assert not unknown, f"fields that the client does not know: {unknown}"
    TypeAdapter(shape).validate_python(value)


async def test_retells_client_reads_a_call_that_our_adapter_registered() -> None:
    """It has no call for `POST /register-call` any more, which is deprecated; it still reads what that made."""
    async with fake_retell() as fake:
        agent = retell.Retell(Account(KEY, RETELL[0], fake.address))
        await agent.open(HAIRCUT)
        client = retell_sdk.Retell(api_key=KEY, base_url=fake.address, max_retries=0)
        call = await at(fake, lambda: client.call.retrieve("call_1"))
        await agent.close()
        assert (call.call_id, call.agent_id, call.call_status) == ("call_1", "agent_1", "registered")
        with pytest.raises(retell_sdk.NotFoundError):
            await at(fake, lambda: client.call.retrieve("call_2"))
        fake.refused.add("/get-agent/agent_1")
        with pytest.raises(retell_sdk.AuthenticationError):
            await at(fake, lambda: client.agent.retrieve("agent_1"))
