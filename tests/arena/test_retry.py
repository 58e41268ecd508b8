"""What is busy is asked again, ever more calmly; what can never work fails at once; nobody waits for ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import DataError, IntegrityError, InterfaceError, OperationalError, connection

from arena.queue import retry
from arena.queue.retry import LONGEST_PAUSE_S, RETRY_FOR_S, retry_while_busy
from arena.store import EpisodeRefused, StoreUnavailable


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now, self.pauses = 0.0, list[float]()

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    fake = Time()
    monkeypatch.setattr(retry, "time", fake)
    return fake


def failing(error: Exception, times: int) -> Callable[[], str]:
    left = [error] * times

    def attempt() -> str:
        if left:
            raise left.pop()
        return "done"

    return attempt


@pytest.mark.parametrize(
    "busy",
    [OperationalError("database is locked"), InterfaceError("connection already closed"), StoreUnavailable("starting")],
)
def test_what_was_busy_for_a_while_is_done_in_the_end(busy: Exception, time: Time) -> None:
    assert retry_while_busy(failing(busy, 5)) == "done"
    assert len(time.pauses) == 5


@pytest.mark.parametrize(
    "never", [IntegrityError("duplicate"), DataError("too long"), EpisodeRefused("too large"), ValueError("nonsense")]
)
def test_what_can_never_work_fails_at_once(never: Exception, time: Time) -> None:
    with pytest.raises(type(never)):
        retry_while_busy(failing(never, 1))
    assert time.pauses == []


def test_pauses_grow_up_to_a_bound_and_differ_by_chance(time: Time) -> None:
    retry_while_busy(failing(StoreUnavailable("away"), 12))
    assert max(time.pauses) <= LONGEST_PAUSE_S
    assert time.pauses[0] < time.pauses[2] < time.pauses[-1]
    assert len(set(time.pauses)) == len(time.pauses)


def test_retrying_ends_with_the_reason(time: Time) -> None:
    with pytest.raises(StoreUnavailable, match="gone"):
        retry_while_busy(failing(StoreUnavailable("gone"), 10_000))
    assert RETRY_FOR_S - LONGEST_PAUSE_S <= time.now <= RETRY_FOR_S


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_broke_is_made_anew_for_the_next_try(time: Time) -> None:
    connection.ensure_connection()
    broken = connection.connection

    def ask() -> str:
        with connection.cursor() as cursor:
            if connection.connection is broken:
                broken.close()  # as a server that dies does
            cursor.execute("SELECT 1")
            return "answered"

    assert retry_while_busy(_as_operational(ask)) == "answered"
    assert connection.connection is not broken


def _as_operational(ask: Callable[[], str]) -> Callable[[], str]:
    """SQLite calls the use of a closed connection a programming error."""

    def attempt() -> str:
        try:
            return ask()
        except Exception as error:
            raise OperationalError("the connection is closed") from error

    return attempt
