"""Networks take turns at the workers, and within each its visitors: nobody with many cookies locks anybody out."""

from __future__ import annotations

import threading
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from arena.models import Attempt, Battle, Hosting, Turn
from arena.queue import hosting, sweeps
from policies.models import Policy
from tests.arena.conftest import play
from tests.crowd import Member, settle
from tests.fakes import FakeRuntime

pytestmark = pytest.mark.usefixtures("behind_a_proxy", "contestants")
HERE, THERE, YONDER = "198.51.100", "203.0.113", "192.0.2"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The episode ids that were put on the queue, in order."""
    messages: list[str] = []
    monkeypatch.setattr("arena.queue.dispatch.send_to_workers", messages.extend)
    return messages


def crowd(network: str, size: int) -> list[Member]:
    return [Member(f"{network}.{host + 1}") for host in range(size)]


def turns_of(members: list[Member], each: int = 1) -> list[dict[str, Any]]:
    """So many turns of each, one after the other as they would come in: first everybody's first."""
    return [member.send(member.open()) for _ in range(each) for member in members]


def ids(*turns: dict[str, Any]) -> list[str]:
    return [turn[side] for turn in turns for side in ("left_episode_id", "right_episode_id")]


def played_a_while_ago(seconds: float, runtime: FakeRuntime) -> None:
    """A turn of a closed battle that took so long, so that waits are known."""
    member = Member("127.0.0.1")
    turn = member.send(member.open())
    play(turn)
    row = Turn.objects.get(turn_id=turn["turn_id"])
    row.attempts.update(started_at=row.settled_at - timedelta(seconds=seconds))
    Battle.objects.filter(battle_id=row.battle_id).update(status="voted")


def wait_of(member: Member, turn: dict[str, Any]) -> dict[str, Any]:
    return dict(member.get(f"turns/{turn['turn_id']}/queue").json())


def test_sixty_cookies_of_one_address_lock_nobody_out(runtime: FakeRuntime, sent: list[str]) -> None:
    """With one line for all, the other visitor would be the 61st: refused with 503 and told 303 s."""
    played_a_while_ago(5.05, runtime)
    sent.clear()
    flood = turns_of([Member("198.51.100.7") for _ in range(60)])
    other = Member("203.0.113.9")
    answer = other.try_to_send(other.open())
    assert answer.status_code == 202, answer.content
    turn = answer.json()
    assert sent == ids(flood[0], turn), "one of them is with the workers, 59 wait as rows"
    assert wait_of(other, turn) == {"ahead": 1, "expected_wait_s": 5}
    for number in range(3):
        settle(flood[number])
    assert sent == ids(flood[0], turn, *flood[1:4]), "and then they take turns with everybody who comes"


def test_a_network_of_many_addresses_leaves_places_for_every_other(runtime: FakeRuntime, settings: Any) -> None:
    settings.QUEUE = {**settings.QUEUE, "turns": 8}
    answers = [each.try_to_send(each.open()) for each in crowd(HERE, 6)]
    assert [answer.status_code for answer in answers] == [202] * 4 + [429] * 2, "as many as places are left"
    assert "At most 4 turns of one network" in answers[-1].json()["detail"]
    assert int(answers[-1]["Retry-After"]) >= 1
    there = [each.try_to_send(each.open()).status_code for each in crowd(THERE, 3)]
    assert there == [202, 202, 429]
    for number in range(12):
        newcomer = Member(f"10.0.{number}.1")
        assert newcomer.try_to_send(newcomer.open()).status_code == 202, "each network has one place in any case"


def test_exempt_visitors_and_networks_take_no_places_from_each_other(runtime: FakeRuntime, settings: Any) -> None:
    settings.QUEUE = {**settings.QUEUE, "turns": 3}
    settings.FREE_NETWORKS = (ip_network("192.0.2.0/24"),)
    turns_of(crowd(HERE, 1) + crowd(THERE, 1) + crowd("10.0.0", 1))
    lab = crowd(YONDER, 4)
    assert [each.try_to_send(each.open()).status_code for each in lab] == [202, 202, 202, 503]
    newcomer = Member("10.1.0.1")
    assert newcomer.try_to_send(newcomer.open()).status_code == 202


def test_three_networks_take_turns_however_many_each_sends(runtime: FakeRuntime, sent: list[str]) -> None:
    here, there, yonder = (turns_of(crowd(network, size)) for network, size in ((HERE, 6), (THERE, 2), (YONDER, 1)))
    order = ids(here[0], there[0], yonder[0])
    assert sent == order
    whose = {episode: name for name, turns in (("h", here), ("t", there), ("y", yonder)) for episode in ids(*turns)}
    for number in range(8):  # the workers play what was sent first
        by_episode = {turn["left_episode_id"]: turn for turn in (*here, *there, *yonder)}
        settle(by_episode[sent[2 * number]])
    assert "".join(whose[episode] for episode in sent[::2]) == "htyhthhhh"


def test_visitors_of_one_network_take_turns_however_many_each_sends(runtime: FakeRuntime, sent: list[str]) -> None:
    """The second turn of the first visitor came before the others' first ones."""
    many, *others = crowd(HERE, 4)
    turns = {"many": turns_of([many], each=3), "others": turns_of(others)}
    by_episode = {turn["left_episode_id"]: turn for some in turns.values() for turn in some}
    for number in range(5):
        settle(by_episode[sent[2 * number]])
    first, second, third = turns["many"]
    assert sent == ids(first, *turns["others"], second, third)


def test_a_visitor_of_the_same_network_hears_that_its_visitors_take_turns(
    runtime: FakeRuntime, sent: list[str]
) -> None:
    many, late = crowd(HERE, 2)
    turns_of([many], each=3)
    turns_of(crowd(THERE, 2))
    turn = late.send(late.open())
    assert wait_of(late, turn)["ahead"] == 3, "one of the neighbour's, and two of the other network's"


def test_visitors_of_exempt_networks_wait_for_nobody_of_their_own(
    runtime: FakeRuntime, sent: list[str], settings: Any
) -> None:
    settings.FREE_NETWORKS = (ip_network("192.0.2.0/24"),)
    turns = turns_of(crowd(YONDER, 5))
    assert sent == ids(*turns)
    assert set(Turn.objects.values_list("caller", "network")) == {("", "")}


def test_a_network_may_use_workers_that_would_idle_and_no_more(runtime: FakeRuntime, sent: list[str]) -> None:
    Hosting.objects.create(worker="one", contestant_id="alpha", slots=4)
    Hosting.objects.create(worker="one", contestant_id="beta", slots=4)
    Hosting.objects.create(worker="two", contestant_id="beta", slots=2)
    Hosting.objects.create(worker="gone", contestant_id="beta", slots=8, seen_at=timezone.now() - timedelta(minutes=5))
    here = turns_of(crowd(HERE, 5))
    assert sent == ids(*here[:3]), "six rollouts side by side are three turns"
    there = turns_of(crowd(THERE, 2))
    assert sent == ids(*here[:3], there[0]), "the first one of a network goes at once"
    settle(here[0])
    assert sent == ids(*here[:3], there[0]), "three are with the workers"
    settle(here[1])
    assert sent[8:] == ids(here[3]), "each has one there, and this one has waited longest"
    settle(there[0])
    settle(here[2])
    assert sent[10:] == ids(there[1], here[4])


def test_a_worker_that_comes_is_given_what_waits_by_the_next_sweep(runtime: FakeRuntime, sent: list[str]) -> None:
    here = turns_of(crowd(HERE, 3))
    Hosting.objects.bulk_create(Hosting(worker="one", contestant_id=each, slots=4) for each in ("alpha", "beta"))
    sweeps.sweep()
    assert sent == ids(*here[:2])


def test_a_worker_says_how_many_rollouts_it_plays_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "this", hosting.Worker("one", processes=3, threads=2))
    monkeypatch.setattr(hosting, "hosted", lambda: list(Policy.objects.all()))
    hosting.announce()
    assert set(Hosting.objects.values_list("worker", "slots")) == {("one", 6)}


def test_however_many_look_at_once_a_network_gets_one_turn(runtime: FakeRuntime, sent: list[str]) -> None:
    here = turns_of(crowd(HERE, 5))
    Attempt.objects.filter(turn__turn_id=here[0]["turn_id"]).update(status="completed")
    Turn.objects.filter(turn_id=here[0]["turn_id"]).update(settled_at=timezone.now(), network="")
    sent.clear()
    ready = threading.Barrier(4)

    def look() -> None:
        ready.wait()
        sweeps.sweep()
        connection.close()

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sent == ids(here[1])


def test_a_newcomer_of_a_network_does_not_overtake_who_waits_there(
    runtime: FakeRuntime, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first turn settled, and whoever was to send the second died: the third comes and lets it go first."""
    first, second = turns_of(crowd(HERE, 2))
    with monkeypatch.context() as crashed:
        crashed.setattr("arena.actions.attempts.send_due_or_leave_to_the_sweep", lambda: None)
        settle(first)
    assert sent == ids(first)
    turns_of(crowd(HERE, 3)[2:])
    assert sent == ids(first, second)
