"""How long a provider takes to open a call, and to let go of it, is not to be seen from the browser's side."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from tests.voice.calls import SCENARIOS
from tests.voice.wire import Agent, Office, Phone, open_office
from voice.calls.holding import hold
from voice.proxy import closing
from voice.proxy.microphone import Browser
from voice.scenarios.model import Scenario

pytestmark = pytest.mark.django_db(transaction=True)
NEVER_S = 3600.0


class NeverLetsGo(Agent):
    async def close(self) -> None:
        await asyncio.sleep(NEVER_S)
        self.closed = True


class BreaksOnClose(Agent):
    async def close(self) -> None:
        self.closed = True
        raise OSError("the line is dead")


class OpensSlowly(Agent):
    async def open(self, scenario: Scenario) -> None:
        await asyncio.sleep(0.5)
        await super().open(scenario)


@pytest.fixture
def office(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Office:
    return open_office(monkeypatch)


async def ended(office: Office, label: str, agent: Agent) -> tuple[dict[str, Any], float]:
    """The end of a call that the visitor ends after the answer, and how long it took [s]."""
    office.answering.append(agent)
    async with Phone(await sync_to_async(office.address)(label)) as phone:
        await phone.until("said")
        await phone.speak()
        while (await phone.until("said"))["role"] != "caller":
            pass
        began = time.perf_counter()
        await phone.tell({"type": "end"})
        return await phone.until("ended"), time.perf_counter() - began


async def test_a_provider_that_never_lets_go_ends_a_call_as_one_that_does_at_once(office: Office) -> None:
    never, at_once = NeverLetsGo(), Agent()
    (first, slow_s), (second, quick_s) = await ended(office, "a", never), await ended(office, "b", at_once)
    assert first == second
    assert slow_s < quick_s + closing.WITHIN_S / 4, f"{slow_s:.2f} s, and {quick_s:.2f} s"
    assert not never.closed
    calls = await sync_to_async(office.slots)()
    assert [call["status"] for call in calls] == ["ended", "ended"], "the vote opens for both alike"


async def test_it_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(closing, "WITHIN_S", 0.05)
    await closing.in_background(NeverLetsGo())
    await asyncio.wait_for(asyncio.gather(*closing._closing), 10)
    assert "an agent was not closed within 0.05 s" in caplog.text


async def test_one_that_breaks_while_it_is_closed_is_noted_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    agent = BreaksOnClose()
    await closing.in_background(agent)
    await asyncio.wait_for(asyncio.gather(*closing._closing), 10)
    assert agent.closed
    assert "the line is dead" in caplog.text


async def test_the_stream_begins_before_the_agent_is_there() -> None:
    """Else its first piece would tell how long the provider took."""
    pieces: list[float] = []
    browser = Browser(lambda piece: pieces.append(time.perf_counter()))
    began = time.perf_counter()
    asyncio.get_running_loop().call_later(0.8, lambda: setattr(browser, "hung_up", "caller_hung_up"))
    held = await hold(OpensSlowly(), browser, SCENARIOS["haircut"], greets_at_ms=300)
    assert pieces[0] - began < 0.45
    assert held.first_audio_ms[0] >= 400, "it greets once it is open"


async def test_a_call_that_is_ended_before_the_agent_is_there_ends_at_once() -> None:
    agent, browser = OpensSlowly(), Browser(lambda piece: None)
    browser.hung_up = "caller_hung_up"
    held = await hold(agent, browser, SCENARIOS["haircut"], greets_at_ms=300)
    assert (held.ended, agent.closed) == ("caller_hung_up", True)


async def test_an_agent_hears_nothing_before_it_may_greet() -> None:
    """Its clock is what it hears: it would take its greeting for played too early, and interruptions for answers."""
    agent, browser = Agent(), Browser(lambda piece: None)
    asyncio.get_running_loop().call_later(0.3, lambda: setattr(browser, "hung_up", "caller_hung_up"))
    held = await hold(agent, browser, SCENARIOS["haircut"], 10.0, greets_at_ms=1500)
    assert len(held.caller_audio) - len(agent.heard) == pytest.approx(1500 * 32, abs=2 * 640)
