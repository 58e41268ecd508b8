"""The socket of a call: a call is held through it, once, and it ends with a reason whatever happens."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from tests.voice.telegraph import spoken
from tests.voice.wire import GREETING, LOUD, Agent, Office, Phone, open_office
from voice.models import Call, Conversation
from voice.proxy import consumer, live, microphone

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def office(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Office:
    return open_office(monkeypatch)


def lines(held: Conversation) -> list[tuple[str, str]]:
    return [(turn["role"], turn["text"]) for turn in held.turns]


async def test_a_call_is_held_recorded_and_kept(office: Office, settings: Any, tmp_path: Any) -> None:
    settings.VOICE = {**settings.VOICE, "recordings": tmp_path}
    agent = Agent()
    office.answering.append(agent)
    async with Phone(await sync_to_async(office.address)()) as phone:
        started = await phone.until("started")
        await phone.until("said")
        await phone.speak()
        ended = await phone.until("ended")
    assert (started["rate"], started["most_turns"]) == (16000, 10)
    assert (ended["reason"], ended["again"]) == ("agent_hung_up", False)
    said = [(each["role"], each["text"]) for each in phone.seen.messages if each["type"] == "said"]
    assert said == [
        ("agent", GREETING),
        ("caller", "I want a haircut."),
        ("agent", "It is booked. Goodbye."),
    ]
    assert spoken(GREETING) in b"".join(phone.seen.pieces)
    assert agent.closed
    held = await Conversation.objects.select_related("call").aget()
    assert lines(held) == said
    assert held.call is not None
    assert (held.call.status, held.agent_label) == (Call.Status.ENDED, "a")
    sizes = {(tmp_path / path).stat().st_size for path in (held.user_audio_path, held.agent_audio_path)}
    assert len(sizes) == 1, "both recordings are equally long"
    assert spoken(GREETING) in (tmp_path / held.agent_audio_path).read_bytes()
    assert LOUD in (tmp_path / held.user_audio_path).read_bytes()


async def test_nothing_that_the_browser_gets_names_the_agent_or_its_provider(office: Office) -> None:
    office.answering.append(Agent(ends="agent_failed"))
    async with Phone(await sync_to_async(office.address)()) as phone:
        await phone.until("said")
        await phone.speak()
        await phone.until("ended")
    told = str(phone.seen.messages).lower()
    for word in ("swift", "famous", "acme", "local", "rules", "whisper"):
        assert word not in told


async def test_a_slot_is_used_once(office: Office) -> None:
    office.answering.append(Agent())
    address = await sync_to_async(office.address)()
    async with Phone(address) as phone:
        await phone.until("said")
        await phone.speak()
        await phone.until("ended")
    async with Phone(address) as again:
        assert (await again.until("error"))["code"] == "slot_used"
    refused = await sync_to_async(office.call)()
    assert (refused.status_code, refused.json()["code"]) == (409, "slot_used")


async def test_a_second_connection_is_refused_and_the_first_goes_on(office: Office) -> None:
    office.answering.append(Agent())
    address = await sync_to_async(office.address)()
    async with Phone(address) as phone:
        await phone.until("started")
        async with Phone(address) as second:
            assert (await second.until("error"))["code"] == "call_running"
        refused = await sync_to_async(office.call)()
        assert (refused.status_code, refused.json()["code"]) == (409, "call_running")
        await phone.until("said")
        await phone.speak()
        assert (await phone.until("ended"))["reason"] == "agent_hung_up"


async def test_who_comes_back_in_time_goes_on_where_the_call_is(office: Office) -> None:
    office.answering.append(Agent())
    address = await sync_to_async(office.address)()
    async with Phone(address) as phone:
        await phone.until("said")
    async with Phone(address) as again:
        assert (await again.until("resumed"))["position_ms"] > live.GREETS_AT_MS[0]
        await again.speak()
        assert (await again.until("ended"))["reason"] == "agent_hung_up"


async def test_who_does_not_come_back_loses_the_call_and_may_call_once_more(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(microphone, "GONE_FOR_MS", 1000.0)
    office.answering += [Agent(), Agent()]
    async with Phone(await sync_to_async(office.address)()) as phone:
        await phone.until("said")
    while consumer.live:
        await asyncio.sleep(0.05)
    [slot, _] = await sync_to_async(office.slots)()
    assert (slot["status"], slot["tries_left"]) == ("open", 1)
    assert not await Conversation.objects.aexists()
    async with Phone(await sync_to_async(office.address)()) as phone:
        await phone.until("said")
        await phone.speak()
        assert (await phone.until("ended"))["reason"] == "agent_hung_up"


async def test_after_the_process_was_started_again_the_caller_is_told_and_may_call_once_more(office: Office) -> None:
    office.answering += [Agent(), Agent()]
    address = await sync_to_async(office.address)()
    async with Phone(address) as phone:
        await phone.until("said")
    [held] = consumer.live.values()
    assert held.task is not None
    held.task.cancel()  # as with the process: nothing of it is settled
    await asyncio.gather(held.task, return_exceptions=True)
    assert consumer.live == {}
    async with Phone(address) as again:
        assert (await again.until("error"))["code"] == "call_lost"
    async with Phone(await sync_to_async(office.address)()) as phone:
        await phone.until("said")
        await phone.speak()
        assert (await phone.until("ended"))["reason"] == "agent_hung_up"


async def test_an_agent_that_refuses_twice_leaves_a_failed_slot_and_the_other_side_untouched(office: Office) -> None:
    office.answering += [Agent(refuses="status 401"), Agent(refuses="status 401"), Agent()]
    again = []
    for _ in range(2):
        async with Phone(await sync_to_async(office.address)()) as phone:
            ended = await phone.until("ended")
            again.append((ended["reason"], ended["again"]))
    assert again == [("agent_failed", True), ("agent_failed", False)]
    assert (await sync_to_async(office.slots)())[0]["status"] == "failed"
    async with Phone(await sync_to_async(office.address)("b")) as phone:
        await phone.until("said")
        await phone.speak()
        assert (await phone.until("ended"))["reason"] == "agent_hung_up"


async def test_a_call_that_does_not_end_by_itself_is_ended_and_may_be_held_once_more(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forever(*_: Any, **__: Any) -> None:
        await asyncio.sleep(3600)

    monkeypatch.setattr(live, "hold", forever)
    monkeypatch.setattr(live, "WATCHDOG_S", -1e6)  # due at once
    office.answering += [Agent()]
    async with Phone(await sync_to_async(office.address)()) as phone:
        ended = await phone.until("ended")
    assert (ended["reason"], ended["again"]) == ("agent_failed", True)
    assert (await sync_to_async(office.slots)())[0]["status"] == "open"


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\0" * (consumer.LONGEST_FRAME + 2), "too_large"),
        (b"\0" * 20_000_000, "too_large"),
        (b"\0" * 641, "wrong_audio"),
    ],
)
async def test_what_is_no_audio_ends_the_connection_with_the_reason(office: Office, frame: bytes, code: str) -> None:
    office.answering.append(Agent())
    async with Phone(await sync_to_async(office.address)()) as phone:
        await phone.until("started")
        await phone.wire.send_to(bytes_data=frame)
        assert (await phone.until("error"))["code"] == code
    for held in list(consumer.live.values()):
        held.hang_up()


async def test_more_audio_than_a_microphone_gives_ends_the_connection(office: Office) -> None:
    office.answering.append(Agent())
    async with Phone(await sync_to_async(office.address)()) as phone:
        await phone.until("started")
        for _ in range(2 * consumer.BURST_BYTES // consumer.LONGEST_FRAME):
            await phone.wire.send_to(bytes_data=b"\0" * consumer.LONGEST_FRAME)
        assert (await phone.until("error"))["code"] == "too_much"
    for held in list(consumer.live.values()):
        held.hang_up()


async def test_typed_words_are_spoken_to_the_agent_and_unknown_messages_are_ignored(office: Office) -> None:
    agent = Agent()
    office.answering.append(agent)
    async with Phone(await sync_to_async(office.address)()) as phone:
        await phone.until("said")
        for message in ({"type": "dance"}, {"type": "say"}, {"type": "say", "text": " "}):
            await phone.tell(message)
        await phone.wire.send_to(text_data="no JSON")
        await phone.tell({"type": "say", "text": "Hello there."})
        await asyncio.sleep(0.3)
        await phone.tell({"type": "end"})
        await phone.until("ended")
    assert spoken("Hello there.") in bytes(agent.heard)


async def test_an_address_that_was_made_up_leads_nowhere(office: Office) -> None:
    async with Phone("ws://x/ws/voice/guessed") as phone:
        assert (await phone.until("error"))["code"] == "not_found"


async def test_as_many_calls_as_the_site_holds_are_not_exceeded_and_the_slot_stays_open(
    office: Office, settings: Any
) -> None:
    settings.VOICE = {**settings.VOICE, "calls": 0}
    async with Phone(await sync_to_async(office.address)()) as phone:
        assert (await phone.until("error"))["code"] == "busy"
    assert (await sync_to_async(office.slots)())[0]["status"] == "open"


async def test_the_audio_of_both_sides_is_made_alike_whoever_answers(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents that say the same are told apart by nothing: how they cut their audio and how soon they greet is not
    heard, and exchanging them changes no byte."""
    monkeypatch.setattr(live, "GREETS_AT_MS", (1500.0, 1500.0))
    office.answering += [Agent(1 << 20), Agent(7), Agent(7), Agent(1 << 20)]
    heard = []
    for _ in ("straight", "mirrored"):
        for label in ("a", "b"):
            async with Phone(await sync_to_async(office.address)(label)) as phone:
                await phone.until("said")
                greeted = list(phone.seen.pieces)
                await phone.speak()
                await phone.until("ended")
            heard.append((greeted, phone.seen.messages))
        office.battle_id = await sync_to_async(office.house.open)(office.visitor)
    assert all(each == heard[0] for each in heard)
    assert spoken(GREETING[:-3]) in b"".join(heard[0][0]), "the words are told with the last piece"
    assert {len(piece) for piece in heard[0][0]} == {microphone.PIECE_BYTES}
