"""What a socket holds back: rows of both sides, handed out in step, each once, by a clock that is given."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from arena import kinds
from arena.live.playout import SNAPSHOT, LiveTurn, PlayoutBuffer

Json = dict[str, Any]
WIDTH = 4
STEP_S = 0.2


@pytest.fixture(autouse=True)
def _clock(default_clock: None) -> None:
    """Five steps a second."""


def rows(step: int, mark: int = 0) -> bytes:
    """The packed rows of a step, each of WIDTH bytes; `mark` tells attempts apart."""
    return bytes([step, mark, 0, 1]) * (1 if step == 0 else 5)


def turn(left: int, right: int, began: float = 100.0) -> LiveTurn:
    """A turn of whose sides so many steps are played, the start among them."""
    live = LiveTurn(kinds.default(), "turn_1")
    for side, number in (("left", left), ("right", right)):
        live.sides[side].add(1, 0, [rows(step) for step in range(number)])
    live.began = began
    return live


def shown(frames: Json | None) -> tuple[int, bytes, bytes]:
    assert frames is not None
    return frames["from_row"], base64.b64decode(frames["left"]), base64.b64decode(frames["right"])


def test_each_step_is_shown_when_it_is_due_and_never_twice() -> None:
    live = turn(3, 3)
    assert live.take(99.9) == (None, 0.0)
    assert shown(live.take(100.0)[0]) == (0, rows(0), rows(0))
    assert live.take(100.1) == (None, 0.0)
    assert live.next_at() == pytest.approx(100.2)
    assert shown(live.take(100.2)[0]) == (1, rows(1), rows(1))
    assert shown(live.take(100.41)[0]) == (6, rows(2), rows(2))
    assert live.next_at() is None


def test_a_side_that_is_behind_stalls_both_and_then_they_catch_up_at_a_pace_of_their_own() -> None:
    live = turn(9, 2)
    for moment in (100.0, 100.2):
        live.take(moment)
    assert live.take(101.3) == (None, 0.0)
    live.sides["right"].add(1, 2, [rows(step) for step in range(2, 9)])
    frames, late = live.take(101.3)
    assert shown(frames)[0] == 6
    assert late == pytest.approx(0.9)
    assert live.next_at() == pytest.approx(101.4)  # half a step's time, not at once
    assert live.take(101.39) == (None, 0.0)
    assert shown(live.take(101.4)[0])[0] == 11


def test_a_side_that_has_ended_stays_where_it_ended_until_the_common_end() -> None:
    live = turn(2, 4)
    live.sides["left"].finish(1, 1)
    for moment in (100.0, 100.2):
        live.take(moment)
    assert shown(live.take(100.4)[0]) == (6, rows(1)[:WIDTH] * 5, rows(2))
    live.take(100.6)
    assert live.next_at() is None, "the right side may have more to come"
    live.sides["right"].finish(1, 3)
    assert live.next_at() is None


def test_a_second_attempt_takes_the_place_of_what_was_not_shown_and_repeats_nothing() -> None:
    live = turn(5, 5)
    for moment in (100.0, 100.2):
        live.take(moment)
    live.sides["left"].add(2, 0, [rows(0, 2), rows(1, 2)])
    assert live.take(100.4) == (None, 0.0), "the second attempt is not as far"
    live.sides["left"].add(1, 5, [rows(5)])  # of the first one, which does not know yet
    live.sides["left"].add(2, 2, [rows(2, 2)])
    assert shown(live.take(100.5)[0]) == (6, rows(2, 2), rows(2))
    assert live.next_at() is None


def test_a_row_that_was_lost_on_the_way_is_stood_in_for_by_the_one_before() -> None:
    live = turn(2, 5)
    live.sides["left"].add(1, 4, [rows(4)])
    for moment in (100.0, 100.2):
        live.take(moment)
    assert shown(live.take(100.4)[0])[1] == rows(1)[:WIDTH] * 5
    live.take(100.6)
    assert shown(live.take(100.8)[0])[1] == rows(4)


def test_whoever_comes_late_is_shown_all_up_to_the_present_step_at_once() -> None:
    live = turn(9, 9)
    assert shown(live.take(100.65)[0]) == (0, *(b"".join(rows(step) for step in range(4)),) * 2)
    assert live.next_at() == pytest.approx(100.8)


def buffer_with_end(at: float = 101.0) -> PlayoutBuffer:
    """A socket that has heard of a turn from its start to its end, and has shown its first two steps."""
    buffer = PlayoutBuffer(kinds.default())
    buffer.open("turn_1", anew=True)
    buffer._turns["turn_1"] = live = turn(4, 3)
    live.sides["left"].finish(1, 3)
    live.sides["right"].finish(1, 2)
    for moment in (100.0, 100.2):
        buffer.due(moment)
    for seq in (3, 4, 5):
        buffer.add_end(at, {"type": "turn.finished", "seq": seq})
    return buffer


def test_at_the_end_all_that_was_not_shown_goes_before_the_events() -> None:
    frames, *events = buffer_with_end(100.2).due(100.2)
    assert shown(frames)[1:] == (rows(2) + rows(3), rows(2) + rows(2)[:WIDTH] * 5)
    assert [event["seq"] for event in events] == [3, 4, 5]


def test_the_end_waits_for_its_moment() -> None:
    buffer = buffer_with_end()
    assert [message["type"] for message in buffer.due(100.4)] == ["rollout.frames"]
    assert [message["type"] for message in buffer.due(100.6)] == ["rollout.frames"]
    assert buffer.due(100.99) == []
    assert buffer.next_at() == 101.0
    assert [message.get("seq") for message in buffer.due(101.0)] == [3, 4, 5]
    assert buffer.next_at() is None


def test_an_end_that_was_taken_back_is_never_told() -> None:
    buffer = buffer_with_end()
    buffer.drop_end(3)
    assert not buffer.has_end
    assert [message["type"] for message in buffer.due(200.0)] == ["rollout.frames"]


def test_a_socket_that_did_not_hear_the_end_asks_for_a_snapshot_in_time() -> None:
    buffer = PlayoutBuffer(kinds.default())
    buffer.add_end(101.0)
    assert buffer.due(100.9) == []
    assert buffer.due(101.0) == [SNAPSHOT]


def test_rows_of_a_turn_that_is_over_are_never_shown() -> None:
    buffer = buffer_with_end(100.2)
    buffer.due(100.2)
    buffer.turn("turn_1").sides["left"].add(1, 4, [rows(4)])
    buffer.turn("turn_1").sides["right"].add(1, 4, [rows(4)])
    assert buffer.next_at() is None
    assert buffer.open("turn_2", anew=True)
    assert buffer.due(300.0) == []
