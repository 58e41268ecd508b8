"""The queue of turns is fair between visitors, bounded, and says so; the bounds hold however many ask at once."""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from kombu.exceptions import OperationalError

from arena import actions
from arena.models import Attempt, Battle, Turn
from arena.queue import admission, sweeps
from robots import play as episodes
from tests.arena.conftest import Visitor, play
from tests.crowd import Member
from tests.fakes import FakeRuntime

RULES = {"turns": 200, "per_visitor": 5, "per_address": 60, "at_once": 1, "wait_s": 300.0}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The episode ids that were put on the queue, in order."""
    messages: list[str] = []
    monkeypatch.setattr("arena.queue.dispatch.send_to_workers", messages.extend)
    return messages


@pytest.fixture
def rules(settings: Any) -> dict[str, Any]:
    settings.QUEUE = dict(RULES)
    return settings.QUEUE  # type: ignore[no-any-return]


def ids(turn: dict[str, Any]) -> list[str]:
    return [turn["left_episode_id"], turn["right_episode_id"]]


def try_to_send(visitor: Visitor, battle_id: str) -> Any:
    return visitor.post(f"battles/{battle_id}/turns", {"instruction": "pick up the red cube"})


def took(turn: dict[str, Any], seconds: float) -> None:
    """Let a played turn look as if it had taken so long, and its battle as if it had been voted on."""
    row = Turn.objects.get(turn_id=turn["turn_id"])
    row.attempts.update(started_at=row.settled_at - timedelta(seconds=seconds))
    Battle.objects.filter(battle_id=row.battle_id).update(status="voted")


def test_nobody_waits_for_anothers_turns(visitor: Visitor, runtime: FakeRuntime, sent: list[str]) -> None:
    """Of three turns of one visitor the workers hear of the first; another visitor's goes before the second."""
    mine = [visitor.send(visitor.open()) for _ in range(3)]
    other = Visitor()
    theirs = other.send(other.open())
    assert sent == [*ids(mine[0]), *ids(theirs)]
    play(mine[0])
    assert sent == [*ids(mine[0]), *ids(theirs), *ids(mine[1])]
    play(mine[1])
    assert sent[6:] == ids(mine[2])


def test_to_its_own_visitor_a_turn_stays_in_the_queue_until_its_end_is_shown(
    visitor: Visitor, runtime: FakeRuntime, sent: list[str], rules: dict[str, Any], default_clock: None
) -> None:
    """Else a second session would tell when both sides of the first were done."""
    rules["per_visitor"] = 2
    first, second = visitor.send(visitor.open()), visitor.send(visitor.open())
    third = visitor.open()

    def seen() -> tuple[Any, ...]:
        sweeps.sweep()
        place = visitor.get(f"turns/{second['turn_id']}/queue").json()["ahead"]
        return list(sent), place, try_to_send(visitor, third).status_code

    before = seen()
    play(first)
    settled = Turn.objects.filter(turn_id=first["turn_id"], settled_at__isnull=False)
    assert settled.count() == 1
    assert seen() == before == (ids(first), 1, 429)
    settled.update(shown_at=timezone.now())
    assert seen() == ([*ids(first), *ids(second)], 0, 202)


def test_others_do_not_wait_for_the_end_to_be_told(
    visitor: Visitor, runtime: FakeRuntime, sent: list[str], default_clock: None
) -> None:
    play(visitor.send(visitor.open()))
    other = Visitor()
    theirs = other.send(other.open())
    assert sent[2:] == ids(theirs)
    assert other.get(f"turns/{theirs['turn_id']}/queue").json() == {"ahead": 0, "expected_wait_s": 0}


def test_a_cancelled_turn_lets_the_visitors_next_one_go(visitor: Visitor, sent: list[str]) -> None:
    first, second = visitor.send(visitor.open()), visitor.send(visitor.open())
    assert visitor.post(f"turns/{first['turn_id']}/cancel").status_code == 200
    assert sent == [*ids(first), *ids(second)]


def test_a_held_turn_can_be_cancelled_and_is_never_sent(
    visitor: Visitor, runtime: FakeRuntime, sent: list[str]
) -> None:
    first, second = visitor.send(visitor.open()), visitor.send(visitor.open())
    assert visitor.post(f"turns/{second['turn_id']}/cancel").status_code == 200
    play(first)
    assert sent == ids(first)


def test_a_sweep_sends_what_a_crash_left_held_and_leaves_alone_what_waits_rightly(
    visitor: Visitor, runtime: FakeRuntime, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = visitor.send(visitor.open()), visitor.send(visitor.open())
    Attempt.objects.filter(status="held").update(created_at=timezone.now() - timedelta(hours=1))
    sweeps.sweep()
    assert sent == ids(first), "the second waits for the first, however long"
    with monkeypatch.context() as crashed:
        crashed.setattr("arena.actions.attempts.send_due_or_leave_to_the_sweep", lambda: None)
        play(first)
    assert sent == ids(first)
    sweeps.sweep()
    sweeps.sweep()
    assert sent == [*ids(first), *ids(second)]


def test_a_queue_that_is_down_when_a_held_turn_is_due_delays_it_until_the_next_sweep(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = visitor.send(visitor.open()), visitor.send(visitor.open())

    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError("no broker")

    with monkeypatch.context() as down:
        down.setattr("arena.queue.dispatch.current_app.send_task", refuse)
        play(first)
    assert visitor.get(f"turns/{first['turn_id']}").json()["status"] == "completed"
    messages: list[str] = []
    monkeypatch.setattr("arena.queue.dispatch.send_to_workers", messages.extend)
    long_ago = timezone.now() - timedelta(minutes=5)
    Attempt.objects.filter(turn__turn_id=first["turn_id"]).update(started_at=long_ago, finished_at=long_ago)
    Attempt.objects.filter(turn__turn_id=second["turn_id"]).update(heartbeat_at=long_ago, sent_at=long_ago)
    sweeps.sweep()
    assert sorted(messages) == sorted(ids(second))


def test_one_visitor_may_have_so_many_turns_and_no_more(
    visitor: Visitor, runtime: FakeRuntime, rules: dict[str, Any]
) -> None:
    rules["per_visitor"] = 2
    first, _ = visitor.send(visitor.open()), visitor.send(visitor.open())
    third = visitor.open()
    refused = try_to_send(visitor, third)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_turns")
    assert int(refused["Retry-After"]) >= 1
    assert "At most 2 turns of one visitor" in refused.json()["detail"]
    assert visitor.battle(third)["turns"] == []
    play(first)
    assert try_to_send(visitor, third).status_code == 202


@pytest.mark.usefixtures("behind_a_proxy")
def test_fresh_cookies_from_one_address_do_not_fill_the_queue(
    contestants: list[Any], runtime: FakeRuntime, rules: dict[str, Any]
) -> None:
    rules["per_address"] = 2
    one, other, third = (Member("198.51.100.7") for _ in range(3))
    turns = [each.send(each.open()) for each in (one, other)]
    refused = third.try_to_send(third.open())
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_turns")
    elsewhere = Member("192.0.2.7")
    assert elsewhere.try_to_send(elsewhere.open()).status_code == 202
    play(turns[0])
    assert Turn.objects.get(turn_id=turns[0]["turn_id"]).caller == "", "what is settled is not kept"
    assert third.try_to_send(third.open()).status_code == 202


def test_a_full_line_refuses_and_says_when_to_come_back(
    visitor: Visitor, runtime: FakeRuntime, rules: dict[str, Any]
) -> None:
    played = visitor.send(visitor.open())
    play(played)
    took(played, 7)
    rules["turns"] = 3
    for _ in range(3):
        other = Visitor()
        other.send(other.open())
    refused = try_to_send(visitor, visitor.open())
    assert (refused.status_code, refused.json()["code"]) == (503, "queue_full")
    assert refused.json()["waiting"] == 3
    assert refused.json()["expected_wait_s"] == 21
    assert refused["Retry-After"] == "7", "by then one of them is done"
    assert "3 turns are waiting" in refused.json()["detail"]
    assert Turn.objects.unsettled().count() == 3


def test_who_would_wait_too_long_is_refused_at_once(
    visitor: Visitor, runtime: FakeRuntime, rules: dict[str, Any]
) -> None:
    played = visitor.send(visitor.open())
    play(played)
    took(played, 100)
    rules["wait_s"] = 150.0
    others = [Visitor() for _ in range(2)]
    turns = [each.send(each.open()) for each in others]
    refused = try_to_send(visitor, visitor.open())
    assert (refused.status_code, refused.json()["code"], refused.json()["expected_wait_s"]) == (503, "queue_full", 200)
    assert refused["Retry-After"] == "50"
    play(turns[0])
    took(turns[0], 100)
    assert try_to_send(visitor, visitor.open()).status_code == 202


def test_how_long_a_turn_took_is_not_told_until_its_battle_is_closed(visitor: Visitor, runtime: FakeRuntime) -> None:
    """It says something of who plays: one network is slower than another."""
    played = visitor.send(visitor.open())
    play(played)
    others = [Visitor() for _ in range(2)]
    waiting = [each.send(each.open()) for each in others][1]
    ask = partial(others[1].get, f"turns/{waiting['turn_id']}/queue")
    assert ask().json() == {"ahead": 1, "expected_wait_s": None}
    took(played, 9)
    assert ask().json() == {"ahead": 1, "expected_wait_s": 9}


def test_turns_that_are_played_side_by_side_shorten_the_wait(
    visitor: Visitor, runtime: FakeRuntime, rules: dict[str, Any]
) -> None:
    played = visitor.send(visitor.open())
    play(played)
    took(played, 10)
    others = [Visitor() for _ in range(4)]
    for turn in [each.send(each.open()) for each in others][:2]:
        for episode_id in ids(turn):
            assert actions.claim_attempt(episode_id, "a worker")
    waiting = visitor.send(visitor.open())
    told = visitor.get(f"turns/{waiting['turn_id']}/queue").json()
    assert told == {"ahead": 4, "expected_wait_s": 20}


def test_while_turns_end_one_after_the_other_their_pace_tells_the_wait_and_not_how_long_a_side_waited(
    visitor: Visitor, runtime: FakeRuntime, rules: dict[str, Any]
) -> None:
    """Where many wait, one side of a turn may start long before the other."""
    for number in range(10):
        turn = visitor.send(visitor.open())
        play(turn)
        ended = timezone.now() - timedelta(seconds=20 * number)
        rows = Turn.objects.filter(turn_id=turn["turn_id"])
        rows.update(settled_at=ended)
        rows[0].attempts.update(started_at=ended - timedelta(seconds=400), finished_at=ended)
    Battle.objects.update(status="voted")
    others = [Visitor() for _ in range(2)]
    for each in others:
        each.send(each.open())
    waiting = visitor.send(visitor.open())
    told = visitor.get(f"turns/{waiting['turn_id']}/queue").json()
    assert told["ahead"] == 2
    assert 36 <= told["expected_wait_s"] <= 60, "ten turns ended in the last three minutes"


def test_the_pace_is_that_of_shown_turns_however_many_others_have_ended_since(
    visitor: Visitor, runtime: FakeRuntime, rules: dict[str, Any]
) -> None:
    """Where many turns end in a second, most of the last ones are still being shown."""
    turns = []
    for number in range(10 + admission.RECENT_TURNS):
        each = visitor if number < 10 else Visitor()
        turns.append(each.send(each.open()))
        play(turns[-1])
    now = timezone.now()
    for number, turn in enumerate(turns):
        is_shown = number < 10
        ended = now - timedelta(seconds=20 * number if is_shown else 0)
        rows = Turn.objects.filter(turn_id=turn["turn_id"])
        rows.update(settled_at=ended, shown_at=ended if is_shown else ended + timedelta(seconds=9))
        rows[0].attempts.update(started_at=ended - timedelta(seconds=400), finished_at=ended)
    Battle.objects.update(status="voted")
    waiting = Visitor()
    turn = waiting.send(waiting.open())
    queue = admission.read_queue()
    assert (len(queue.done), len(queue.unshown)) == (10, admission.RECENT_TURNS)
    assert admission.seconds_a_turn(queue) == pytest.approx(18, abs=3), "ten turns ended in the last three minutes"
    assert waiting.get(f"turns/{turn['turn_id']}/queue").json()["ahead"] == 0


def test_who_sends_many_turns_hears_that_others_come_in_between(visitor: Visitor, runtime: FakeRuntime) -> None:
    other = Visitor()
    for _ in range(3):
        other.send(other.open())
    first, second = visitor.send(visitor.open()), visitor.send(visitor.open())
    assert visitor.get(f"turns/{first['turn_id']}/queue").json()["ahead"] == 1
    assert visitor.get(f"turns/{second['turn_id']}/queue").json()["ahead"] == 3, "one of mine, two of theirs"


def test_a_fork_joins_the_same_queue(visitor: Visitor, runtime: FakeRuntime, rules: dict[str, Any]) -> None:
    battle_id = visitor.open()
    play(visitor.send(battle_id))
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 201
    rules["per_visitor"] = 1
    visitor.send(visitor.open())
    refused = visitor.post(f"battles/{battle_id}/explorations", {"seed": 1})
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_turns")


def test_of_many_who_ask_at_once_only_as_many_come_in_as_there_is_room(
    visitor: Visitor, runtime: FakeRuntime, sent: list[str], rules: dict[str, Any]
) -> None:
    rules["turns"] = 3
    crowd = [Visitor() for _ in range(8)]
    battles = [each.open() for each in crowd]
    answers: list[int] = []
    ready = threading.Barrier(len(crowd))

    def ask(each: Visitor, battle_id: str) -> None:
        ready.wait()
        answers.append(try_to_send(each, battle_id).status_code)
        connection.close()

    threads = [threading.Thread(target=ask, args=pair) for pair in zip(crowd, battles, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [202] * 3 + [503] * 5
    assert Turn.objects.unsettled().count() == 3


def test_of_one_visitors_turns_sent_at_once_the_workers_hear_of_one(
    visitor: Visitor, runtime: FakeRuntime, sent: list[str]
) -> None:
    battles = [visitor.open() for _ in range(4)]
    ready = threading.Barrier(len(battles))

    def ask(battle_id: str) -> None:
        own = Visitor()
        own.client.cookies = visitor.client.cookies
        ready.wait()
        assert try_to_send(own, battle_id).status_code == 202
        connection.close()

    threads = [threading.Thread(target=ask, args=(battle_id,)) for battle_id in battles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sent) == 2
    for _ in battles:
        for episode_id in list(sent):
            episodes.play(episode_id)
    assert Turn.objects.unsettled().count() == 0
    assert len(sent) == len(set(sent)) == 8
