"""Votes keep where they came from as keyed digests, whose key changes and is destroyed; exempt networks leave none."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.utils import timezone

from arena.models import NetworkKey, Turn, Vote
from arena.tasks import expire
from arena.visitors import networks
from arena.visitors.networks import NO_DIGESTS, digests_of, period_of
from tests.arena.conftest import Visitor
from tests.crowd import Member, settle
from vlaarena import backup, env

pytestmark = pytest.mark.usefixtures("behind_a_proxy")


def digests(address: str) -> networks.CallerDigests:
    return digests_of(ip_address(address))


def tie(_: Any) -> str:
    return "tie"


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set the clock that the keys go by."""

    def set_(moment: datetime) -> None:
        monkeypatch.setattr("arena.visitors.networks.timezone.now", lambda: moment)

    return set_


def test_a_vote_keeps_digests_of_its_address_and_network_and_neither_itself(contestants: list[Any]) -> None:
    here, neighbour, elsewhere = (
        Member(address).play_and_vote(tie) for address in ("198.51.100.7", "198.51.100.8", "203.0.113.7")
    )
    assert len(here.address) == len(here.network) == 24
    assert here.address != neighbour.address
    assert here.network == neighbour.network != elsewhere.network
    told = str(Vote.objects.values())
    assert "198.51" not in told
    assert "203.0" not in told


def test_two_cookies_of_one_address_have_one_digest(contestants: list[Any]) -> None:
    one, other = (Member("198.51.100.7").play_and_vote(tie) for _ in range(2))
    assert (one.address, one.network) == (other.address, other.network)
    assert one.user_id != other.user_id


@pytest.mark.django_db
def test_an_ipv6_address_stands_for_its_64_and_its_network_is_the_48() -> None:
    one, same, neighbour, elsewhere = map(
        digests, ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1", "2001:db8:2:2::1")
    )
    assert one == same
    assert one.address != neighbour.address
    assert one.network == neighbour.network != elsewhere.network


def test_this_machine_and_named_networks_are_exempt_and_leave_nothing(contestants: list[Any], settings: Any) -> None:
    settings.FREE_NETWORKS = (ip_network("198.51.100.0/24"), ip_network("2001:db8:5::/48"))
    for address in ("127.0.0.1", "::1", "198.51.100.7", "2001:db8:5:1::1"):
        vote = Member(address).play_and_vote(tie)
        assert (vote.address, vote.network) == NO_DIGESTS, address
    assert not NetworkKey.objects.exists(), "nobody needed one"
    assert Member("198.51.101.7").play_and_vote(tie).network


def test_only_what_our_own_proxy_wrote_decides_who_is_exempt(contestants: list[Any]) -> None:
    assert Member("127.0.0.1, 198.51.100.7").play_and_vote(tie).network


@pytest.mark.django_db
def test_digests_change_with_the_period_and_not_within_a_day_of_it(at: Any) -> None:
    start = datetime.fromtimestamp(period_of(timezone.now()) * 28 * 86400, tz=timezone.get_default_timezone())
    told = []
    for hours in (0, 23.9, 24 * 27.99, 24 * 28):
        at(start + timedelta(hours=hours))
        told.append(digests("198.51.100.7"))
    assert told[0] == told[1] == told[2]
    assert told[3].network != told[0].network
    assert told[3].address != told[0].address


@pytest.mark.django_db
def test_the_nightly_task_destroys_a_key_ninety_days_after_its_first_vote_and_keeps_the_digests(
    contestants: list[Any], at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    vote = Member("198.51.100.7").play_and_vote(tie)
    start = datetime.fromtimestamp(NetworkKey.objects.get().pk * 28 * 86400, tz=timezone.get_default_timezone())
    at(start + timedelta(days=89.9))
    expire()
    assert NetworkKey.objects.count() == 1
    at(start + timedelta(days=90 + 28))
    expire()
    assert not NetworkKey.objects.exists()
    assert Vote.objects.get().network == vote.network


@pytest.mark.django_db
def test_the_key_in_use_outlives_every_sweep(settings: Any) -> None:
    before = digests("198.51.100.7")
    settings.NETWORK_DAYS = 0
    expire()
    assert digests("198.51.100.7") == before


def test_of_many_who_need_the_first_key_at_once_all_get_the_same(transactional_db: None) -> None:
    ready, told = threading.Barrier(6), []

    def ask() -> None:
        ready.wait()
        told.append(digests("198.51.100.7"))
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 6
    assert len(set(told)) == 1
    assert NetworkKey.objects.count() == 1


def test_a_backup_holds_no_key(contestants: list[Any], tmp_path: Any) -> None:
    Member("198.51.100.7").play_and_vote(tie)
    backup.save(tmp_path / "kept.tar")
    assert NetworkKey.objects.get().secret.encode() not in (tmp_path / "kept.tar").read_bytes()


def test_a_turn_forgets_where_it_came_from_when_it_settles(contestants: list[Any]) -> None:
    member = Member("198.51.100.7")
    turn = member.send(member.open())
    assert len(Turn.objects.get().network) == len(Turn.objects.get().caller) == 24
    settle(turn)
    assert (Turn.objects.get().caller, Turn.objects.get().network) == ("", "")


def test_a_crowd_plays_and_votes_through_http(contestants: list[Any], visitor: Visitor) -> None:
    vote = Member("198.51.100.7").play_and_vote(lambda battle: "left_better", success=(True, False))
    assert vote.vote == "left_better"
    assert list(vote.battle.turns.get().attempts.order_by("side").values_list("success", flat=True)) == [True, False]


@pytest.mark.parametrize("nonsense", ["198.51.100.7/24", "a lab", "10.0.0.0/33"])
def test_a_free_network_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, nonsense: str) -> None:
    monkeypatch.setenv("ARENA_FREE_NETWORKS", f"10.0.0.0/8,{nonsense}")
    with pytest.raises(ImproperlyConfigured, match="ARENA_FREE_NETWORKS"):
        env.networks("ARENA_FREE_NETWORKS", "")


def test_no_network_is_free_unless_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_FREE_NETWORKS", raising=False)
    assert env.networks("ARENA_FREE_NETWORKS", "") == ()
