"""Slots, success, containment and turns are computed by rules, from what the agent did and said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.voice.calls import SCENARIOS
from voice.evaluation.goals import filled_slots, joint_goal_accuracy, slot_accuracy
from voice.evaluation.outcome import is_contained, met, succeeded, turns_to_completion
from voice.evaluation.transcript import Line, Role, ToolUse, Transcript

HAIRCUT, BILLING = SCENARIOS["haircut"], SCENARIOS["billing"]
RIGHT = {"service": "haircut", "day": "thursday", "time": "16:00", "name": "jordan miller"}


def transcript(
    *said: str | dict[str, Any], ended: str = "caller_hung_up", tool: str = "book_appointment"
) -> Transcript:
    """Lines "caller: ..." and "agent: ...", a second each, and mappings: calls of the tool in between."""
    lines, tools = [], []
    for at, each in enumerate(said):
        if isinstance(each, str):
            role, _, words = each.partition(": ")
            lines.append(Line(Role(role), words, at * 1000.0, at * 1000.0 + 800))
        else:
            tools.append(
                ToolUse(tool, each, SCENARIOS["haircut"].tools["book_appointment"].answer(each).done, at * 1000.0)
            )
    return Transcript(lines, tools, ended)


def test_the_last_call_decides() -> None:
    filled = filled_slots(HAIRCUT, transcript({**RIGHT, "day": "friday"}, RIGHT))
    assert {slot.source for slot in filled.values()} == {"call"}
    assert joint_goal_accuracy(filled) == slot_accuracy(filled) == 1.0


def test_arguments_may_come_in_any_form() -> None:
    given = {"service": "Hair cut", "day": "Thursday", "time": "4 PM", "name": "Jordan Miller"}
    assert joint_goal_accuracy(filled_slots(HAIRCUT, transcript(given))) == 1.0


def test_one_wrong_slot_makes_the_goal_wrong() -> None:
    filled = filled_slots(HAIRCUT, transcript({**RIGHT, "time": "17:00"}))
    assert joint_goal_accuracy(filled) == 0.0
    assert slot_accuracy(filled) == 0.75
    assert (filled["time"].found, filled["time"].right) == ("17:00", False)


def test_without_a_call_the_words_of_the_agent_count() -> None:
    said = transcript("agent: Jordan Miller, a haircut on Friday, no, on Thursday at 4 p.m.")
    filled = filled_slots(HAIRCUT, said)
    assert joint_goal_accuracy(filled) == 1.0
    assert {slot.source for slot in filled.values()} == {"speech"}


def test_words_of_the_caller_do_not_count() -> None:
    filled = filled_slots(HAIRCUT, transcript("caller: A haircut on Thursday at 4 p.m. My name is Jordan Miller."))
    assert [slot.found for slot in filled.values()] == [None] * 4
    assert joint_goal_accuracy(filled) == 0.0


def test_another_spelling_of_a_name_is_the_same_name() -> None:
    restaurant = SCENARIOS["restaurant"]
    filled = filled_slots(restaurant, transcript({"name": "Sara Cooper"}))
    assert filled["name"].right


def test_success_needs_every_criterion_and_every_slot() -> None:
    whole = transcript(RIGHT, "agent: You have a haircut on Thursday at 4 p.m.")
    assert met(HAIRCUT, whole) == {"booked": True, "told_day": True, "told_time": True}
    assert succeeded(HAIRCUT, whole, slots_right=True)
    assert not succeeded(HAIRCUT, whole, slots_right=False)
    assert met(HAIRCUT, transcript(RIGHT, "agent: Done.")) == {"booked": True, "told_day": False, "told_time": False}


def test_a_call_that_was_refused_meets_nothing() -> None:
    refused = transcript({**RIGHT, "day": "friday"}, "agent: On Thursday at 4 p.m.?")
    assert not met(HAIRCUT, refused)["booked"]


@pytest.mark.parametrize(("ended", "contained"), [
    ("caller_hung_up", True), ("agent_hung_up", True), ("time_limit", False), ("turn_limit", False),
    ("agent_silent", False), ("agent_failed", False),
])  # fmt: skip
def test_a_call_is_contained_if_somebody_hung_up(ended: str, contained: bool) -> None:
    assert is_contained(HAIRCUT, transcript("agent: Goodbye.", ended=ended)) is contained


def test_a_call_that_is_passed_on_is_not_contained() -> None:
    assert not is_contained(BILLING, transcript({}, tool="transfer"))
    assert not is_contained(HAIRCUT, transcript("agent: Let me transfer you to the salon."))
    assert is_contained(BILLING, transcript({"account": "K2406"}, tool="ask_supervisor"))


def test_turns_are_counted_to_the_answer_that_completed_the_task() -> None:
    whole = transcript(
        "agent: Hello.", "caller: A haircut.", "agent: When?", "caller: On Thursday at 4.",
        RIGHT, "agent: On Thursday at 4 p.m.", "caller: Thank you.", "agent: Goodbye.",
    )  # fmt: skip
    assert turns_to_completion(HAIRCUT, whole) == 2
    assert turns_to_completion(HAIRCUT, transcript("caller: Hello.", "agent: Hello.")) is None
