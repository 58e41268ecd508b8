"""The clock of a turn: when its end is told. Pure rules, at moments that are given."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from arena import kinds
from arena.live import release
from arena.models import Attempt, Battle, Session, Turn

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


@pytest.fixture(autouse=True)
def _clock(default_clock: None) -> None:
    """One second of buffer, five steps a second, fifty steps."""


def turn_of(*sides: tuple[str, int, str], **columns: Any) -> Turn:
    """A turn shown from noon on. `sides`: status, steps, reason."""
    session = Session(kind=kinds.default().id)
    turn = Turn(
        pk=1, battle=Battle(session=session), **{"release_from": NOON, "created_at": NOON - seconds(3), **columns}
    )
    names = zip(("left", "right"), sides, strict=False)
    turn.cache_attempts(
        [
            Attempt(side=side, status=status, length=steps, termination_reason=reason)
            for side, (status, steps, reason) in names
        ]
    )
    return turn


@pytest.mark.parametrize("steps", [(12, 30), (30, 12), (30, 30)])
@pytest.mark.parametrize("settled_s", [0.5, 2.0, 5.9])
def test_a_completed_turn_is_told_when_the_longer_side_has_been_shown_however_quickly_it_was_played(
    steps: tuple[int, int], settled_s: float
) -> None:
    turn = turn_of(*(("completed", number, "success") for number in steps))
    assert release.end_of(turn, NOON + seconds(settled_s)) == NOON + seconds(30 * 0.2)


def test_a_turn_that_was_played_too_slowly_is_told_when_it_is_done() -> None:
    turn = turn_of(("completed", 30, "success"), ("completed", 50, "step_limit"))
    assert release.end_of(turn, NOON + seconds(14)) == NOON + seconds(14)


@pytest.mark.parametrize("sides", [(("failed", 3, "timeout"), ("completed", 9, "success"))])
@pytest.mark.parametrize(("settled_s", "told_s"), [(0.1, 10), (2, 10), (9.99, 10), (10.1, 20), (19, 20), (31, 40)])
def test_a_failed_turn_is_told_at_a_moment_that_says_neither_when_it_failed_nor_on_which_side(
    sides: Any, settled_s: float, told_s: float
) -> None:
    now = NOON + seconds(settled_s)
    assert release.end_of(turn_of(*sides), now) == NOON + seconds(told_s)
    assert release.end_of(turn_of(*reversed(sides)), now) == NOON + seconds(told_s)


def test_a_turn_that_failed_before_both_sides_had_started_is_told_by_when_it_was_sent() -> None:
    turn = turn_of(("failed", 0, "not_hosted"), ("completed", 9, "success"), release_from=None)
    assert release.end_of(turn, NOON) == NOON + seconds(7)


def test_a_cancelled_turn_is_told_at_once() -> None:
    turn = turn_of(*[("failed", 0, "cancelled")] * 2)
    assert release.end_of(turn, NOON + seconds(1)) == NOON + seconds(1)


def test_a_turn_is_told_from_the_moment_on_that_was_set() -> None:
    turn = turn_of(settled_at=NOON + seconds(2), shown_at=NOON + seconds(11))
    assert not release.told(turn, NOON + seconds(10.999))
    assert release.told(turn, NOON + seconds(11))
    assert release.untold([turn], NOON + seconds(10.999)) is turn
    assert release.untold([turn], NOON + seconds(11)) is None


def test_turns_of_before_there_was_a_clock_are_told() -> None:
    assert release.told(turn_of(settled_at=NOON, shown_at=None), NOON)
    assert not release.told(turn_of(settled_at=None), NOON + seconds(3600))


def test_a_clock_that_is_set_back_by_an_hour_locks_no_turn_for_an_hour() -> None:
    turn = turn_of(settled_at=NOON, shown_at=NOON + seconds(9))
    assert release.told(turn, NOON - seconds(3600))


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_clock_that_was_set_back_while_a_turn_was_played_keeps_nobody_waiting(status: str) -> None:
    turn = turn_of((status, 50, ""), ("completed", 50, "step_limit"))
    now = NOON - seconds(30 * 3600)
    assert now < release.end_of(turn, now) <= now + seconds(11)


def test_a_faster_clock_shows_steps_faster(settings: Any) -> None:
    settings.RELEASE = {"buffer_s": 3.0, "speed": 4.0}
    assert kinds.default().chunk_s == pytest.approx(0.05)
    assert release.buffer() == seconds(3)
    assert release.longest(kinds.default()) == seconds(kinds.default().longest * 0.05)


@pytest.mark.parametrize(("instruction", "steps"), [("dance", 50), ("swap the red cube and the green ball", 150)])
@pytest.mark.parametrize("failed", [0, 1])
def test_a_failed_turn_lasts_as_long_as_its_instruction_allows(instruction: str, steps: int, failed: int) -> None:
    sides = [("completed", 20, "success"), ("completed", 20, "success")]
    sides[failed] = ("failed", 3, "policy_failed")
    turn = turn_of(*sides, instruction=instruction)
    assert release.end_of(turn, NOON + seconds(2)) == NOON + seconds(steps * 0.2)
