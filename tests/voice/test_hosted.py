"""What the adapters of Vapi and of Retell have in common, against the fakes of both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests.voice import test_retell, test_vapi
from tests.voice.calls import SCENARIOS
from tests.voice.retell_server import fake_retell
from tests.voice.telegraph import TELEGRAPH
from tests.voice.vapi_server import fake_vapi
from voice import seeding
from voice.agents.base import AgentFailed, AudioChunk
from voice.agents.hosted import Account, Hosted
from voice.agents.opening import adapter_of
from voice.agents.retell import Retell
from voice.agents.vapi import Vapi
from voice.models import VoiceAgent
from voice.speech.audio import QUIET

HAIRCUT = SCENARIOS["haircut"]
LOUD = b"\1\2" * 320
HUM = QUIET.to_bytes(2, "little") * 320


class Provider(NamedTuple):
    fake: Callable[..., Any]
    adapter: Callable[[Account], Hosted]
    name: str
    made_of: dict[str, Any]
    row: str
    goodbye: list[str]
    """What the adapter says before it closes the socket."""


VAPI = Provider(fake_vapi, Vapi, "Vapi", test_vapi.MADE_OF, "vapi-gpt-4o", ['{"type": "end-call"}'])
RETELL = Provider(fake_retell, Retell, "Retell", test_retell.MADE_OF, "retell-realtime", [])


@pytest.fixture(params=[VAPI, RETELL], ids=["vapi", "retell"])
def provider(request: pytest.FixtureRequest) -> Provider:
    found: Provider = request.param
    return found


def agent(provider: Provider, fake: Any, key: str = "s3cret") -> Hosted:
    return provider.adapter(Account(key, provider.made_of, fake.address))


async def test_audio_goes_both_ways_byte_for_byte_and_silence_is_not_passed_on(provider: Provider) -> None:
    async with provider.fake(LOUD, bytes(640), HUM, LOUD + b"\1") as fake:
        hosted = agent(provider, fake)
        await hosted.open(HAIRCUT)
        for _ in range(3):
            await hosted.hear(LOUD)
        events = hosted.events()
        assert [await anext(events), await anext(events)] == [AudioChunk(LOUD), AudioChunk(LOUD)]
        await hosted.close()
        await asyncio.wait_for(fake.ended.wait(), 5)
    assert bytes(fake.heard) == LOUD * 3
    assert fake.told == provider.goodbye


@pytest.mark.parametrize("status", [401, 402, 422, 429, 500])
async def test_a_refusal_is_told_with_its_status(provider: Provider, status: int) -> None:
    async with provider.fake() as fake:
        fake.status = status
        with pytest.raises(AgentFailed, match=f"{provider.name} answers {status}, expected 201"):
            await agent(provider, fake).open(HAIRCUT)


async def test_without_a_key_nothing_is_asked(provider: Provider) -> None:
    async with provider.fake() as fake:
        with pytest.raises(AgentFailed, match="no key"):
            await agent(provider, fake, key="").open(HAIRCUT)
    assert fake.requests == []


@pytest.mark.django_db
def test_the_adapter_of_a_row_uses_the_key_and_the_address_of_the_settings(provider: Provider, settings: Any) -> None:
    name = provider.name.lower()
    seeding.seed_hosted({"vapi": "", "retell": "", name: "s3cret"})
    settings.VOICE = {**settings.VOICE, f"{name}_key": "s3cret", f"{name}_url": "http://127.0.0.1:9"}
    row = VoiceAgent.objects.get(pk=provider.row)
    adapter = adapter_of(row, TELEGRAPH)
    assert isinstance(adapter, Hosted)
    assert adapter.provider == provider.name
    assert "s3cret" not in repr(adapter._account)
    assert adapter._account.address == "http://127.0.0.1:9"
    assert adapter._account.made_of == row.config
