"""Too much in a short time is refused with 429, for a visitor and for an address, and room comes back as promised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, RequestFactory
from redis import Connection, Redis

from arena.errors import TooMany
from arena.visitors.throttles import address_of, spend
from tests.arena.conftest import Visitor, play
from tests.factories import SessionFactory
from tests.fakes import FakeRuntime
from vlaarena import env

pytestmark = pytest.mark.engine

MINUTE, HOUR = 60, 3600


@pytest.fixture(autouse=True, params=["one process", "several processes"])
def _fresh_counters(request: pytest.FixtureRequest, settings: Any) -> Iterator[None]:
    """Counted in the process, and in Redis, which several processes share."""
    settings.CACHE_URL = settings.CHANNEL_URL if request.param == "several processes" else ""
    forget_counters(settings.CACHE_URL)
    yield
    forget_counters(settings.CACHE_URL)


def forget_counters(url: str) -> None:
    if url:
        with Redis.from_url(url) as server:
            for key in server.scan_iter(cache.make_key("arena:rate:*")):
                server.delete(key)


@pytest.fixture
def limit(settings: Any) -> Any:
    def set_(action: str, caller: str, *rates: tuple[int, int]) -> None:
        settings.RATE_LIMITS = {action: {caller: rates}}

    return set_


def refused_for(action: str, who: str, now: float) -> int:
    with pytest.raises(TooMany) as refusal:
        spend(action, {"visitor": who}, now)
    return int(refusal.value.retry_after_s or 0)


def test_a_visitors_vote_too_many_is_refused_with_the_wait_and_changes_nothing(
    visitor: Visitor, runtime: FakeRuntime, limit: Any
) -> None:
    limit("votes", "visitor", (1, HOUR))
    first, second = visitor.open(), visitor.open()
    for battle_id in (first, second):
        play(visitor.send(battle_id))
    assert visitor.post("votes", {"battle_id": first, "vote": "tie"}).status_code == 201
    refused = visitor.post("votes", {"battle_id": second, "vote": "tie"})
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert refused.json()["detail"].startswith("At most 1 votes an hour from one visitor: try again in ")
    assert 0 < int(refused["Retry-After"]) <= 2 * HOUR
    assert visitor.battle(second)["status"] == "ongoing"


def test_a_turn_too_many_is_refused_and_opens_no_turn(visitor: Visitor, runtime: FakeRuntime, limit: Any) -> None:
    limit("turns", "visitor", (1, MINUTE))
    battle_id = visitor.open()
    play(visitor.send(battle_id))
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "pick up the red cube"})
    assert refused.status_code == 429
    assert len(visitor.battle(battle_id)["turns"]) == 1


def test_new_cookies_do_not_help_against_the_limit_of_an_address(contestants: list[Any], limit: Any) -> None:
    limit("sessions", "address", (2, MINUTE))
    answers = [Visitor().post("sessions/init", {}).status_code for _ in range(3)]
    assert answers == [201, 201, 429]
    elsewhere = Client(REMOTE_ADDR="203.0.113.9").post("/api/sessions/init", {}, content_type="application/json")
    assert elsewhere.status_code == 201


def test_each_visitor_has_limits_of_its_own(limit: Any) -> None:
    limit("votes", "visitor", (1, MINUTE))
    spend("votes", {"visitor": "one"}, now=0.0)
    spend("votes", {"visitor": "other"}, now=0.0)
    refused_for("votes", "one", now=1.0)


@pytest.mark.parametrize("count", [1, 3, 10])
@pytest.mark.parametrize("start", [0.0, 20.0, 59.0])
def test_who_waits_as_long_as_was_said_is_let_in(limit: Any, count: int, start: float) -> None:
    limit("votes", "visitor", (count, MINUTE))
    for _ in range(count):
        spend("votes", {"visitor": "one"}, now=start)
    wait = refused_for("votes", "one", now=start + 0.5)
    spend("votes", {"visitor": "one"}, now=start + 0.5 + wait)


def test_no_span_of_the_windows_length_ever_holds_twice_the_limit(limit: Any) -> None:
    limit("votes", "visitor", (10, MINUTE))
    passed = []
    for tenth in range(3000):
        try:
            spend("votes", {"visitor": "one"}, now=tenth / 10)
        except TooMany:
            continue
        passed.append(tenth / 10)
    busiest = max(sum(begin <= moment < begin + 60 for moment in passed) for begin in passed)
    assert busiest <= 11
    assert len(passed) >= 45  # five minutes, ten a minute: the limit is also reached


def test_what_one_limit_refuses_does_not_fill_the_other(settings: Any) -> None:
    settings.RATE_LIMITS = {"votes": {"address": ((5, HOUR),), "visitor": ((1, HOUR),)}}
    spend("votes", {"address": "a", "visitor": "v"}, now=0.0)
    for _ in range(10):
        with pytest.raises(TooMany):
            spend("votes", {"address": "a", "visitor": "v"}, now=1.0)
    for number in range(4):
        spend("votes", {"address": "a", "visitor": f"other-{number}"}, now=2.0)


def test_a_visitors_limits_are_not_forgotten_because_a_thousand_others_come(limit: Any) -> None:
    limit("votes", "visitor", (1, HOUR))
    spend("votes", {"visitor": "one"}, now=0.0)
    for number in range(1000):
        spend("votes", {"visitor": f"other-{number}"}, now=1.0)
    refused_for("votes", "one", now=2.0)


def test_counting_asks_redis_once_however_many_limits_there_are(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CACHE_URL = settings.CHANNEL_URL
    settings.RATE_LIMITS = {"votes": {"address": ((5, HOUR), (2, MINUTE)), "visitor": ((3, HOUR),)}}
    sent: list[int] = []
    send = Connection.send_packed_command

    def noted(self: Connection, command: Any, check_health: bool = True) -> None:
        sent.append(1)
        send(self, command, check_health)

    spend("votes", {"address": "a", "visitor": "v"}, now=0.0)
    monkeypatch.setattr(Connection, "send_packed_command", noted)
    spend("votes", {"address": "a", "visitor": "v"}, now=0.0)
    assert len(sent) == 1


def test_counters_are_forgotten_after_two_of_their_windows(settings: Any) -> None:
    settings.CACHE_URL = settings.CHANNEL_URL
    settings.RATE_LIMITS = {"votes": {"visitor": ((3, MINUTE),)}}
    spend("votes", {"visitor": "v"}, now=0.0)
    with Redis.from_url(settings.CHANNEL_URL) as server:
        [key] = server.scan_iter(cache.make_key("arena:rate:*"))
        assert MINUTE < server.ttl(key) <= 2 * MINUTE


@pytest.mark.parametrize(
    ("proxies", "header", "remote", "expected"),
    [
        (0, "198.51.100.7", "203.0.113.1", "203.0.113.1"),
        (1, "10.9.9.9, 198.51.100.7", "203.0.113.1", "198.51.100.7"),
        (2, "10.9.9.9, 198.51.100.7, 192.0.2.4", "203.0.113.1", "198.51.100.7"),
        (1, "", "203.0.113.1", "203.0.113.1"),
        (0, "", "2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        (0, "", "::ffff:203.0.113.1", "203.0.113.1"),
        (0, "", "", ""),
    ],
)
def test_an_address_is_believed_only_as_far_as_our_own_proxies_wrote_it(
    settings: Any, proxies: int, header: str, remote: str, expected: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = RequestFactory().get("/")
    request.META |= {"REMOTE_ADDR": remote, "HTTP_X_FORWARDED_FOR": header}
    assert address_of(request) == expected


def test_rates_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_RATES", "20/minute, 200/hour")
    assert env.rates("SOME_RATES", "1/day") == ((20, 60), (200, 3600))
    monkeypatch.setenv("SOME_RATES", "")
    assert env.rates("SOME_RATES", "1/day") == ()
    monkeypatch.delenv("SOME_RATES")
    assert env.rates("SOME_RATES", "1/day") == ((1, 86400),)


@pytest.mark.parametrize("nonsense", ["20", "x/minute", "0/hour", "5/fortnight", "-1/day"])
def test_a_rate_that_is_none_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, nonsense: str) -> None:
    monkeypatch.setenv("SOME_RATES", nonsense)
    with pytest.raises(ImproperlyConfigured, match=r"SOME_RATES.*not a rate such as 20/minute"):
        env.rates("SOME_RATES", "")


@pytest.mark.django_db
def test_a_vote_says_how_long_its_voter_could_look(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    play(visitor.send(battle_id))
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    dwell = SessionFactory._meta.model.objects.get(battles__battle_id=battle_id).votes.get().dwell_ms
    assert dwell is not None
    assert 0 <= dwell < 60_000
