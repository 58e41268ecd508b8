"""Events on their way to browsers: exactly what was declared, and JSON that every browser reads, or a ShapeError."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import strategies as st
from typing_extensions import TypedDict

from arena import kinds as registry
from arena.live.events import EVENTS, build
from arena.live.playout import LiveTurn
from arena.shapes import BattleJson, ShapeError, check
from robots.shapes import RolloutFrames
from tests.fuzz.damage import damaged
from tests.fuzz.effort import fuzz

st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
SHAPES = {**EVENTS, "snapshot": BattleJson, "rollout.frames": RolloutFrames}
WIDTH = 8  # bytes of a row
kinds = st.sampled_from(sorted(SHAPES))


class Progress(TypedDict):
    progress: float | None


def as_browsers_read(value: Any) -> Any:
    """Out and in again as strict JSON: NaN is none."""
    return json.loads(json.dumps(value, allow_nan=False))


@fuzz("events", 60, kind=kinds, data=st.data())
def test_what_keeps_to_a_declaration_passes_and_is_json(kind: str, data: st.DataObject) -> None:
    event = data.draw(st.from_type(SHAPES[kind]))
    check(event, SHAPES[kind])
    assert as_browsers_read(event) == event


@fuzz("events", 166, kind=kinds, data=st.data())
def test_what_was_spoilt_is_refused_or_still_json(kind: str, data: st.DataObject) -> None:
    event = data.draw(damaged(data.draw(st.from_type(SHAPES[kind]))))
    try:
        check(event, SHAPES[kind], kind)
    except ShapeError:
        return
    as_browsers_read(event)
    assert set(event) <= set(SHAPES[kind].__annotations__) | {"type", "seq"} | set(BattleJson.__annotations__)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_json_does_not_know_is_refused(number: float) -> None:
    with pytest.raises(ShapeError, match="progress"):
        check({"progress": number}, Progress)


@fuzz(
    "events",
    200,
    heard=st.lists(
        st.tuples(
            st.sampled_from(["left", "right"]), st.integers(1, 3), st.integers(0, 12), st.integers(0, 6), st.booleans()
        )
    ),
    pauses=st.lists(st.floats(0, 1)),
)
def test_steps_are_shown_once_and_in_their_order_and_of_both_sides_alike(
    heard: list[tuple[str, int, int, int, bool]], pauses: list[float]
) -> None:
    """Whatever arrives: rows out of order, lost ones, those of other attempts, sides that end."""
    live, now, told = LiveTurn(registry.default(), "turn_1"), 0.0, []
    live.began = now
    for (side, attempt, first, count, ends), pause in zip(heard, pauses, strict=False):
        rows = live.sides[side]
        rows.add(attempt, first, [bytes(WIDTH) * (5 if step else 1) for step in range(first, first + count)])
        if ends:
            rows.finish(attempt, first + count)
        now += pause
        told.append(live.take(now)[0])
    told.append(live.rest())
    upcoming = None
    for frames in told:
        if frames is not None:
            left, right = (base64.b64decode(frames[side]) for side in ("left", "right"))
            assert len(left) == len(right) > 0
            assert upcoming in (None, frames["from_row"])
            upcoming = frames["from_row"] + len(left) // WIDTH


def test_an_event_of_an_unknown_kind_is_not_built() -> None:
    with pytest.raises(KeyError):
        build("rollout.cheated", 1, {})
