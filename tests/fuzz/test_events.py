"""Events on their way to browsers: exactly what was declared, and JSON that every browser reads, or a ShapeError."""

from __future__ import annotations

import json
from typing import Any, TypedDict

import pytest
from hypothesis import strategies as st

from arena.consumers import HeldFrames
from arena.events import EVENTS, build
from arena.shapes import BattleJson, ShapeError, check
from tests.fuzz.damage import damaged
from tests.fuzz.effort import fuzz

st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
SHAPES = {**EVENTS, "snapshot": BattleJson}
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
    told=st.lists(st.tuples(st.sampled_from(["left", "right"]), st.integers(0, 20), st.integers(0, 6))),
    asked=st.lists(st.tuples(st.integers(-3, 20), st.integers(-3, 25))),
)
def test_frames_that_are_held_are_released_once(told: list[tuple[str, int, int]], asked: list[tuple[int, int]]) -> None:
    held = HeldFrames()
    for side, start, count in told:
        held.hold("turn", side, start, [[float(step)] for step in range(start, start + count)])
    released: list[tuple[str, float]] = []
    for start, end in asked:
        for side, frames in held.release("turn", start, end).items():
            released += [(side, row[0]) for row in frames["steps"]]
            assert all(start <= row[0] <= end for row in frames["steps"])
    assert len(released) == len(set(released))
    held.forget("turn")
    assert held.release("turn", 0, 50) == {"left": {"steps": []}, "right": {"steps": []}}


def test_an_event_of_an_unknown_kind_is_not_built() -> None:
    with pytest.raises(KeyError):
        build("rollout.cheated", 1, {})
