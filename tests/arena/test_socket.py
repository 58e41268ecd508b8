"""The socket of a battle: who may open it, what it says, and that it stays open."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from arena import actions
from arena.models import Attempt
from robots import play as episodes
from simulation.view_format import ROWS_PER_CHUNK, unpack
from tests.arena.conftest import Visitor, play
from tests.arena.reducer import apply
from tests.arena.sockets import Socket, settled
from tests.fakes import NQ, FakePolicy, FakeRuntime

Json = dict[str, Any]


@pytest.fixture
def battle_id(visitor: Visitor) -> str:
    return visitor.open()


async def claim(turn: Json, side: str) -> Attempt:
    claimed: Attempt | None = await sync_to_async(actions.claim_attempt)(turn[f"{side}_episode_id"], "worker")
    assert claimed is not None
    return claimed


def row_of(step: int) -> bytes:
    return bytes([step, 0]) * NQ


async def test_the_first_message_is_the_snapshot_that_the_api_gives(visitor: Visitor, battle_id: str) -> None:
    async with Socket(visitor, battle_id) as socket:
        assert await socket.next() == {
            "type": "snapshot",
            "battle": await sync_to_async(visitor.battle)(battle_id),
        }


async def test_events_follow_until_the_snapshot_and_they_are_the_fresh_one(
    visitor: Visitor, battle_id: str, runtime: FakeRuntime
) -> None:
    async with Socket(visitor, battle_id) as socket:
        battle = (await socket.next())["battle"]
        turn = await sync_to_async(visitor.send)(battle_id)
        await sync_to_async(play)(turn)
        got = await socket.until("turn.finished")
        await sync_to_async(visitor.post)("votes", {"battle_id": battle_id, "vote": "tie"})
        got += await socket.until("battle.voted")
    for event in got:
        if event["type"] != "rollout.frames":  # these are to be looked at, and change nothing
            battle = apply(battle, event)
    assert battle == await sync_to_async(visitor.battle)(battle_id)


async def test_live_frames_of_both_sides_come_in_step(visitor: Visitor, battle_id: str, runtime: FakeRuntime) -> None:
    async with Socket(visitor, battle_id) as socket:
        await socket.next()
        turn = await sync_to_async(visitor.send)(battle_id)
        left, right = [await claim(turn, side) for side in ("left", "right")]
        rows = [row_of(0), *(row_of(step) * ROWS_PER_CHUNK for step in range(1, 11))]
        pass_chunks = sync_to_async(actions.pass_chunks)
        await pass_chunks(left, 0, rows)
        await pass_chunks(right, 0, rows[:3])
        await socket.until("rollout.started")
        seen = [await socket.next()]
        assert await socket.is_silent(), "the right side has played two steps"
        await pass_chunks(right, 3, rows[3:5])
        seen += [await socket.next() for _ in range(2)]
    assert [frames["from_row"] for frames in seen] == [0, 11, 16]
    assert [base64.b64decode(frames["left"]) for frames in seen] == [b"".join(rows[:3]), rows[3], rows[4]]
    assert [frames["left"] for frames in seen] == [frames["right"] for frames in seen]


async def test_the_frames_of_a_played_turn_are_all_of_its_steps_and_the_shorter_side_stays_where_it_ended(
    visitor: Visitor, battle_id: str, runtime: FakeRuntime
) -> None:
    runtime.success_at = {"alpha": 20}
    async with Socket(visitor, battle_id) as socket:
        await socket.next()
        await sync_to_async(play)(await sync_to_async(visitor.send)(battle_id))
        got = await socket.until("turn.finished")
    frames = [event for event in got if event["type"] == "rollout.frames"]
    shown = {side: unpack(b"".join(base64.b64decode(each[side]) for each in frames), NQ) for side in ("left", "right")}
    assert [len(rows) for rows in shown.values()] == [1 + 50 * ROWS_PER_CHUNK] * 2
    still = {side: next(n for n, row in enumerate(rows) if (row == rows[-1]).all()) for side, rows in shown.items()}
    assert sorted(still.values()) == [24 * ROWS_PER_CHUNK, 50 * ROWS_PER_CHUNK]  # success held for a second
    assert {event["steps"] for event in got if event["type"] == "rollout.finished"} == {50}


async def test_nothing_of_a_socket_outlives_it(visitor: Visitor, battle_id: str) -> None:
    def clocks() -> list[Any]:
        return [task for task in asyncio.all_tasks() if task.get_name() == "clock of a socket"]

    async with Socket(visitor, battle_id) as socket:
        await socket.next()
        await sync_to_async(visitor.send)(battle_id)
        assert len(clocks()) == 1
    await settled()
    assert clocks() == []


@pytest.mark.parametrize("who", ["a stranger", "nobody"])
async def test_the_socket_of_another_visitors_battle_closes_as_not_found(
    visitor: Visitor, battle_id: str, who: str
) -> None:
    stranger = Visitor()
    if who == "a stranger":
        await sync_to_async(stranger.open)()
    async with Socket(stranger, battle_id) as socket:
        message = await socket.wire.receive_output(timeout=5)
        assert message == {"type": "websocket.close", "code": 4404}


@pytest.mark.parametrize("unknown", ["battle_" + "0" * 32, "nonsense", "%00", "a" * 500])
async def test_the_socket_of_a_battle_that_is_nowhere_closes_as_not_found(visitor: Visitor, unknown: str) -> None:
    await sync_to_async(visitor.open)()
    async with Socket(visitor, unknown) as socket:
        assert await socket.wire.receive_output(timeout=5) == {"type": "websocket.close", "code": 4404}


async def test_a_page_of_another_site_cannot_open_the_socket(visitor: Visitor, battle_id: str) -> None:
    async with Socket(visitor, battle_id, origin="https://elsewhere.example") as socket:
        assert not socket.connected


async def test_a_snapshot_is_sent_whenever_the_browser_asks(visitor: Visitor, battle_id: str) -> None:
    async with Socket(visitor, battle_id) as socket:
        first = await socket.next()
        await socket.ask_for_snapshot()
        assert await socket.next() == first


@pytest.mark.parametrize("text", [" ", "{", "[1]", '{"type": "vote"}', '{"type": ["snapshot"]}', "null", "[" * 5000])
async def test_anything_else_that_a_browser_says_is_ignored(visitor: Visitor, battle_id: str, text: str) -> None:
    async with Socket(visitor, battle_id) as socket:
        await socket.next()
        await socket.wire.send_to(text_data=text)
        await socket.wire.send_to(bytes_data=b"\xff\x00")
        assert await socket.is_silent()
        await socket.ask_for_snapshot()
        assert (await socket.next())["type"] == "snapshot"


async def test_an_event_that_the_snapshot_includes_is_not_sent_again(
    visitor: Visitor, battle_id: str, runtime: FakeRuntime
) -> None:
    async with Socket(visitor, battle_id) as socket:
        await socket.next()
        await sync_to_async(visitor.send)(battle_id)
        await settled()
        await socket.next()
        await socket.ask_for_snapshot()
        snapshot = await socket.next()
        assert snapshot["battle"]["seq"] == 1
        assert await socket.is_silent()


async def test_an_idle_socket_stays_open_and_hears_the_next_event(visitor: Visitor, battle_id: str) -> None:
    async with Socket(visitor, battle_id) as socket:
        await socket.next()
        await asyncio.sleep(8)
        await sync_to_async(visitor.send)(battle_id)
        assert (await socket.next())["type"] == "turn.opened"


async def test_a_battles_events_reach_its_own_sockets_alone(visitor: Visitor, battle_id: str) -> None:
    other = await sync_to_async(visitor.open)()
    async with Socket(visitor, battle_id) as here, Socket(visitor, other) as there:
        await here.next()
        await there.next()
        await sync_to_async(visitor.send)(battle_id)
        assert (await here.next())["type"] == "turn.opened"
        assert await there.is_silent()


async def test_a_slow_side_holds_the_other_back_live(visitor: Visitor, battle_id: str, runtime: FakeRuntime) -> None:
    """A side played to its end before the other began shows nothing of itself."""
    runtime.policies = {"alpha": FakePolicy(), "beta": FakePolicy()}
    async with Socket(visitor, battle_id) as socket:
        await socket.next()
        turn = await sync_to_async(visitor.send)(battle_id)
        assert (await socket.next())["type"] == "turn.opened"
        await sync_to_async(episodes.play)(turn["left_episode_id"])
        assert await socket.is_silent()
        await sync_to_async(episodes.play)(turn["right_episode_id"])
        assert (await socket.until("turn.finished"))[0]["type"] == "rollout.started"
