"""The store or the queue is down: 503, nothing half written, and the turn can simply be sent again."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest
from celery import current_app
from django.db import OperationalError as DatabaseAway
from django.db import connection
from kombu.exceptions import OperationalError

from arena import actions
from arena import store as store_module
from arena.errors import QueueUnavailable
from arena.live import events
from arena.models import Attempt, AttemptStatus, Turn
from arena.queue import dispatch, retry
from arena.store import StoreUnavailable, get_store
from tests.arena.conftest import Visitor, cast, play, play_battle, side_of
from tests.fakes import FakeRuntime
from tests.ports import free_port

pytestmark = pytest.mark.engine


@pytest.fixture
def no_store(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(store_module, "SELECTION_TIMEOUT_MS", 200)
    settings.MONGO_URL = f"mongodb://127.0.0.1:{free_port()}"


def down(*_: Any, **__: Any) -> None:
    raise OperationalError("connection refused")


def test_without_the_store_no_turn_is_begun(visitor: Visitor, no_store: None) -> None:
    battle_id = visitor.open()
    before = visitor.battle(battle_id)
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"})
    assert (refused.status_code, refused.json()["code"]) == (503, "episodes_unavailable")
    assert refused["Retry-After"] == "5"
    assert not Turn.objects.exists()
    assert visitor.battle(battle_id) == before


def test_without_the_store_an_episode_is_unavailable_and_not_missing(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    battle_id = play_battle(visitor)
    episode_id = side_of(battle_id, "left").episode_id
    cast(visitor, battle_id)
    monkeypatch.setattr(store_module, "SELECTION_TIMEOUT_MS", 200)
    settings.MONGO_URL = f"mongodb://127.0.0.1:{free_port()}"
    for address in (f"episodes/{episode_id}{form}" for form in ("", "/view.bin", "/states.bin", "/replay.bin")):
        refused = visitor.get(address)
        assert (refused.status_code, refused.json()["code"]) == (503, "episodes_unavailable")


def test_without_the_queue_nothing_is_left_and_the_same_turn_can_be_sent_again(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = visitor.open()
    with monkeypatch.context() as outage:
        outage.setattr(current_app, "send_task", down)
        refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"})
    assert (refused.status_code, refused.json()["code"]) == (503, "queue_unavailable")
    assert not Turn.objects.exists()
    assert not Attempt.objects.exists()
    assert visitor.battle(battle_id)["can_send"]
    play(visitor.send(battle_id, "wave"))
    assert visitor.battle(battle_id)["turns"][0]["status"] == "completed"


def test_a_broker_that_refuses_connections_is_noticed_soon(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = f"redis://127.0.0.1:{free_port()}/0"
    with current_app.connection_for_write(elsewhere) as connection, current_app.amqp.Producer(connection) as producer:
        send = current_app.send_task
        monkeypatch.setattr(current_app, "send_task", lambda *args, **more: send(*args, producer=producer, **more))
        began = time.monotonic()
        with pytest.raises(QueueUnavailable):
            dispatch.send_to_workers({"ep_1": "alpha"})
        assert time.monotonic() - began < 5


def test_when_one_message_got_out_the_turn_stays_for_whoever_took_it(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = visitor.open()
    sent: list[str] = []

    def half_down(name: str, args: list[str], **_: Any) -> None:
        if sent:
            raise OperationalError("connection lost")
        sent.append(args[0])
        assert actions.claim_attempt(args[0], "a quick worker") is not None

    with monkeypatch.context() as outage:
        outage.setattr(current_app, "send_task", half_down)
        answer = visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"})
    assert answer.status_code == 202
    assert sorted(Attempt.objects.values_list("status", flat=True)) == ["queued", "running"]


def test_a_store_that_comes_back_while_a_rollout_ends_keeps_its_episode(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = visitor.send(visitor.open())
    save, refused = get_store().save, []

    def flaky(document: dict[str, Any]) -> None:
        if len(refused) < 2:
            refused.append(document)
            raise StoreUnavailable("starting")
        save(document)

    monkeypatch.setattr(get_store(), "save", flaky)
    monkeypatch.setattr(retry, "FIRST_PAUSE_S", 0.0)
    play(turn)
    assert len(refused) == 2
    assert visitor.get(f"turns/{turn['turn_id']}").json()["status"] == "completed"


def test_a_store_that_is_away_when_a_turn_begins_is_waited_for(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = play_battle(visitor)
    turn = visitor.send(battle_id)
    get, refused = get_store().get, []

    def flaky(episode_id: str) -> Any:
        if len(refused) < 3:
            refused.append(episode_id)
            raise StoreUnavailable("starting")
        return get(episode_id)

    monkeypatch.setattr(get_store(), "get", flaky)
    monkeypatch.setattr(retry, "FIRST_PAUSE_S", 0.0)
    play(turn)
    assert len(refused) == 3
    assert visitor.get(f"turns/{turn['turn_id']}").json()["status"] == "completed"


@pytest.mark.parametrize("action", ["claim_attempt", "finish_attempt"])
def test_a_database_that_is_away_while_a_worker_needs_it_is_waited_for(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    turn = visitor.send(visitor.open())
    act, refused = getattr(actions, action), []

    def flaky(*arguments: Any) -> Any:
        if len(refused) < 2:
            refused.append(arguments)
            raise DatabaseAway("the server closed the connection")
        return act(*arguments)

    monkeypatch.setattr(actions, action, flaky)
    monkeypatch.setattr(retry, "FIRST_PAUSE_S", 0.0)
    play(turn)
    assert len(refused) == 2
    assert visitor.get(f"turns/{turn['turn_id']}").json()["status"] == "completed"


def test_without_the_database_every_caller_is_told_so(visitor: Visitor) -> None:
    battle_id = visitor.open()

    def away(*_: Any) -> None:
        raise DatabaseAway("the server closed the connection")

    with connection.execute_wrapper(away):
        called = [
            visitor.get(f"battles/{battle_id}"),
            visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"}),
            visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}),
        ]
        page = visitor.client.get("/leaderboard")
    for answer in called:
        assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert {answer["Retry-After"] for answer in (*called, page)} == {"5"}
    assert page.status_code == 503
    assert b"Your battles and votes are safe" in page.content
    assert visitor.get(f"battles/{battle_id}").status_code == 200


def test_a_channel_layer_that_says_nothing_holds_nobody_up(
    visitor: Visitor, runtime: FakeRuntime, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "SEND_TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mute = {"address": f"redis://127.0.0.1:{silent.getsockname()[1]}/1", "socket_timeout": None}
        layer = settings.CHANNEL_LAYERS["default"]
        settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [mute]}}}
        battle_id = play_battle(visitor)
    assert visitor.battle(battle_id)["turns"][0]["status"] == "completed"


def test_a_row_says_completed_only_once_its_episode_is_stored(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = visitor.send(visitor.open())
    seen: list[str] = []
    save = get_store().save

    def watched(document: dict[str, Any]) -> None:
        save(document)
        seen.append(Attempt.objects.get(episode_id=document["_id"]).status)

    monkeypatch.setattr(get_store(), "save", watched)
    play(turn)
    assert seen == ["running", "running"]


def test_a_store_that_stays_away_fails_the_rollout_and_the_turn_can_be_sent_again(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)

    def gone(document: dict[str, Any]) -> None:
        raise StoreUnavailable("gone")

    with monkeypatch.context() as outage:
        outage.setattr(get_store(), "save", gone)
        outage.setattr(retry, "RETRY_FOR_S", 0.0)
        play(turn)
    assert visitor.battle(battle_id)["turns"][0]["left"]["error"] == "turn_failed"
    assert set(Attempt.objects.values_list("termination_reason", flat=True)) == {"internal"}
    assert set(Attempt.objects.values_list("status", flat=True)) == {AttemptStatus.FAILED}
    play(visitor.send(battle_id))
    assert visitor.battle(battle_id)["can_vote"]


def test_without_the_channel_layer_a_battle_is_played_all_the_same(
    visitor: Visitor, runtime: FakeRuntime, settings: Any
) -> None:
    settings.CHANNEL_URL = f"redis://127.0.0.1:{free_port()}/1"
    elsewhere = {"address": settings.CHANNEL_URL, "socket_timeout": None}
    layer = settings.CHANNEL_LAYERS["default"]
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [elsewhere]}}}
    battle_id = play_battle(visitor)
    assert visitor.battle(battle_id)["turns"][0]["status"] == "completed"
