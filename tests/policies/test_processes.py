"""Cases that several processes play: all of them, in order, each once, by this process as well."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from robots.processes import Processes


def who_plays(case: int) -> tuple[int, int]:
    time.sleep(0.02)
    return case, os.getpid()


def breaks_at_three(case: int) -> int:
    if case == 3:
        raise ValueError("three")
    return case


@pytest.fixture(scope="module")
def two() -> Iterator[Processes]:
    with Processes(2) as processes:
        yield processes


def test_every_case_is_played_once_in_order_by_both(two: Processes) -> None:
    list(two.outcomes(who_plays, range(2)))  # until the other has started
    played = list(two.outcomes(who_plays, range(40)))
    assert [case for case, _ in played] == list(range(40))
    players = [process for _, process in played]
    assert set(players) - {os.getpid()}, "another process played, too"
    assert os.getpid() in players


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_cases_are_all_played(two: Processes, count: int) -> None:
    assert [case for case, _ in two.outcomes(who_plays, range(count))] == list(range(count))


def test_whoever_stops_asking_stops_the_rest(two: Processes) -> None:
    first = two.outcomes(who_plays, range(1000))
    assert next(first)[0] == 0
    first.close()  # type: ignore[attr-defined] # a generator
    assert [case for case, _ in two.outcomes(who_plays, range(3))] == [0, 1, 2]


def test_an_error_of_any_process_is_raised(two: Processes) -> None:
    with pytest.raises(ValueError, match="three"):
        list(two.outcomes(breaks_at_three, range(10)))


def test_one_process_is_this_one() -> None:
    with Processes(1) as alone:
        assert {process for _, process in alone.outcomes(who_plays, range(3))} == {os.getpid()}
    with pytest.raises(ValueError, match="at least 1 process, got 0"):
        Processes(0)
