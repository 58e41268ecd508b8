"""One turn can be followed: from the request that sent it, through the worker that plays it, to the sockets."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from prometheus_client import REGISTRY

from arena.models import Attempt, Turn
from robots import play
from robots.models import Rollout
from tests.arena.conftest import Visitor, play_battle
from tests.arena.sockets import Socket
from tests.fakes import FakePolicy, FakeRuntime
from tests.monitoring.conftest import Lines, logged

__all__ = ["logged"]


def test_a_turn_remembers_the_request_that_sent_it(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    sent = visitor.post(f"battles/{battle_id}/turns", {"instruction": "pick up the red cube"})

    assert Turn.objects.get().request_id == sent.headers["X-Request-Id"]


def test_the_request_s_line_names_the_turn_that_it_made(visitor: Visitor, runtime: FakeRuntime, logged: Lines) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)

    line = next(line for line in logged() if line["event"].startswith("POST /api/battles/"))
    assert (line["battle_id"], line["turn_id"]) == (battle_id, turn["turn_id"])


def test_whoever_plays_it_says_so_under_the_same_ids(visitor: Visitor, runtime: FakeRuntime, logged: Lines) -> None:
    turn = visitor.send(visitor.open())
    runtime.policies = {"alpha": FakePolicy(raises=RuntimeError("no")), "beta": FakePolicy()}
    for side in ("left", "right"):
        play.play(turn[f"{side}_episode_id"])

    lines = [line for line in logged() if line["logger"] == "robots.play"]
    asked = Turn.objects.get().request_id
    for rollout in Attempt.objects.all():
        own = [line for line in lines if line.get("episode_id") == rollout.episode_id]
        assert own
        for line in own:
            assert (line["request_id"], line["turn_id"], line["policy"]) == (asked, turn["turn_id"], rollout.model_id)


def test_after_a_rollout_the_worker_s_lines_bear_its_ids_no_more(
    visitor: Visitor, runtime: FakeRuntime, logged: Lines
) -> None:
    turn = visitor.send(visitor.open())
    play.play(turn["left_episode_id"])
    play.play("ep_" + "0" * 32)

    assert "episode_id" not in logged()[-1]


def test_where_the_time_of_a_rollout_went_is_in_its_row(visitor: Visitor, runtime: FakeRuntime) -> None:
    play_battle(visitor)

    for rollout in Rollout.objects.select_related("attempt"):
        parts = (rollout.render_ms, rollout.infer_ms, rollout.physics_ms)
        assert all(part is not None and part >= 0 for part in parts)
        assert sum(part or 0 for part in parts) <= (rollout.attempt.duration_ms or 0)
        assert rollout.store_ms is not None
        assert rollout.store_ms > 0


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.django_db(transaction=True)
async def test_open_sockets_and_what_they_are_sent_are_counted(visitor: Visitor, logged: Lines) -> None:

    battle_id = await sync_to_async(visitor.open)()
    before = counted("arena_events_sent_total", type="snapshot")
    async with Socket(visitor, battle_id) as socket:
        await socket.next()
        assert counted("arena_sockets_open") == 1
    assert counted("arena_sockets_open") == 0
    assert counted("arena_events_sent_total", type="snapshot") == before + 1
    lines = [line for line in logged() if line["logger"] == "arena.live.consumers"]
    assert [line["event"] for line in lines] == ["socket opened", "socket closed"]
    assert {line["battle_id"] for line in lines} == {battle_id}
    assert len({line["request_id"] for line in lines}) == 1


def test_votes_are_counted_by_value_once_they_are_stored(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    before = counted("arena_votes_total", vote="tie")
    for _ in range(2):
        visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})

    assert counted("arena_votes_total", vote="tie") == before + 1
