"""Joining the queue costs the same under its lock, however many turns wait; what changes beside it is not missed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.actions.admission import join_queue
from arena.errors import TooManyTurns
from arena.models import AdmissionLock, Attempt, Session, Turn
from arena.queue.admission import read_queue
from arena.queue.entry import Standing
from arena.visitors.networks import CallerDigests
from tests.factories import BattleFactory, SessionFactory, TurnFactory

pytestmark = pytest.mark.django_db
HERE = CallerDigests("address", "network")
ELSEWHERE = CallerDigests("another", "other network")


def wait(session: Session, caller: CallerDigests, status: str) -> Turn:
    addresses = {"caller": caller.address, "network": caller.network}
    return TurnFactory(battle=BattleFactory(session=session), attempts__status=status, **addresses)  # type: ignore[no-any-return]


@pytest.fixture
def rules(settings: Any) -> dict[str, Any]:
    settings.QUEUE = {"turns": 0, "per_visitor": 3, "per_address": 0, "at_once": 1, "wait_s": 0}
    return settings.QUEUE  # type: ignore[no-any-return]


def sessions(number: int) -> list[Session]:
    return [SessionFactory(user_id=f"visitor {place}") for place in range(number)]


def test_under_the_lock_no_waiting_turn_is_read(rules: dict[str, Any]) -> None:
    one, other = sessions(2)
    for _ in range(8):
        wait(other, ELSEWHERE, "held")
    standing = Standing.of(one, HERE)
    join_queue(standing)
    with CaptureQueriesContext(connection) as asked:
        join_queue(Standing.of(one, HERE))
    assert [each["sql"].split()[0] for each in asked] == ["WITH", "UPDATE"]


def test_the_queue_is_read_with_its_revision_when_nobody_waits() -> None:
    AdmissionLock.objects.update_or_create(pk=AdmissionLock.ONLY, defaults={"revision": 7})
    found = read_queue()
    assert (found.waiting, found.revision, found.last) == ([], 7, 0)


def test_turns_that_came_after_the_reading_count(rules: dict[str, Any]) -> None:
    (one,) = sessions(1)
    wait(one, HERE, "queued")
    standing = Standing.of(one, HERE)
    for _ in range(2):
        join_queue(Standing.of(one, HERE))
        wait(one, HERE, "held")
    with pytest.raises(TooManyTurns):
        join_queue(standing)


def test_a_turn_that_came_after_the_reading_and_waits_is_not_overtaken(rules: dict[str, Any]) -> None:
    one, other = sessions(2)
    standing = Standing.of(one, HERE)
    join_queue(Standing.of(other, HERE))
    wait(other, HERE, "held")
    assert join_queue(standing)


def test_a_network_gets_one_turn_when_another_of_its_turns_was_sent_after_the_reading(rules: dict[str, Any]) -> None:
    one, other = sessions(2)
    turn = wait(other, HERE, "queued")
    Attempt.objects.filter(turn=turn).update(status="held")
    waits = wait(other, ELSEWHERE, "queued")
    standing = Standing.of(one, HERE)
    standing.would_overtake = False
    Attempt.objects.filter(turn=turn).update(status="queued")
    AdmissionLock.objects.update_or_create(pk=AdmissionLock.ONLY, defaults={"revision": 1, "sent": [[1, turn.pk]]})
    assert waits.pk in {each.key for each in standing.queue.waiting}
    assert join_queue(standing)
    assert standing.sent_of_network == 1


def test_more_turns_sent_than_the_lock_names_are_read_again(rules: dict[str, Any]) -> None:
    one, other = sessions(2)
    standing = Standing.of(one, HERE)
    wait(other, HERE, "queued")
    named = [[number, 0] for number in range(1, AdmissionLock.NAMED + 1)]
    AdmissionLock.objects.update_or_create(pk=AdmissionLock.ONLY, defaults={"revision": 99, "sent": named})
    assert not standing.catch_up(99, named)
    assert join_queue(standing), "the network has a turn with the workers"


def test_a_standing_that_is_caught_up_is_that_of_a_fresh_reading(rules: dict[str, Any]) -> None:
    one, other = sessions(2)
    wait(other, HERE, "queued")
    held = wait(other, ELSEWHERE, "held")
    standing = Standing.of(one, HERE)
    wait(one, HERE, "held")
    wait(other, ELSEWHERE, "queued")
    Attempt.objects.filter(turn=held).update(status="queued")
    settled = wait(one, HERE, "completed")
    Turn.objects.filter(pk=settled.pk).update(settled_at=timezone.now(), shown_at=timezone.now() + timedelta(hours=1))
    AdmissionLock.objects.update_or_create(pk=AdmissionLock.ONLY, defaults={"revision": 1, "sent": [[1, held.pk]]})
    assert standing.catch_up(1, [[1, held.pk]])
    fresh = Standing.of(one, HERE)
    same = ("waiting", "of_visitor", "of_address", "of_network", "sent", "sent_of_network", "own")
    assert {name: getattr(standing, name) for name in same} == {name: getattr(fresh, name) for name in same}


@pytest.mark.django_db(transaction=True)
def test_the_first_who_locks_the_queue_makes_its_row() -> None:
    (one,) = sessions(1)
    join_queue(Standing.of(one, HERE))
    assert AdmissionLock.objects.get().revision == 1
