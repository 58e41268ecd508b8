"""Whole calls with the local cascade: the real caller, listener, cascade, rules and evaluation, by telegraph."""

from __future__ import annotations

import pytest

from tests.voice.calls import SCENARIOS, called
from voice.evaluation.transcript import Role
from voice.speech.audio import FRAME_BYTES


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_rules_do_every_task(name: str) -> None:
    """What the scenarios ask can be done; over telegraph nothing is misheard."""
    call, transcript, metrics = called(SCENARIOS[name])
    assert call.ended == "agent_hung_up", transcript.lines
    assert (metrics.joint_goal_accuracy, metrics.task_success, metrics.containment) == (1.0, True, True)
    assert metrics.turns_to_completion is not None
    assert metrics.turns_to_completion < metrics.total_turns <= SCENARIOS[name].max_turns


def test_both_recordings_are_on_one_clock() -> None:
    call, transcript, _ = called(SCENARIOS["haircut"])
    assert len(call.caller_audio) == len(call.agent_audio)
    assert len(call.caller_audio) % FRAME_BYTES == 0
    assert [line.role for line in transcript.lines] == [Role.AGENT, Role.CALLER] * 4 + [Role.AGENT]
    times = [time for line in transcript.lines for time in (line.start_ms, line.end_ms)]
    assert times == sorted(times)
    assert times[-1] <= call.duration_s * 1000


def test_an_answer_comes_after_the_silence_that_ends_a_turn() -> None:
    _, transcript, metrics = called(SCENARIOS["haircut"])
    waited = [line.latency_ms for line in transcript.said_by(Role.AGENT)[1:]]
    assert all(each is not None and each >= 800 - 32 for each in waited)
    assert metrics.ttfb_ms is not None
    assert metrics.latency.p50_ms is not None
    assert metrics.ttfb_ms == pytest.approx(metrics.latency.average_ms, abs=100)


def test_what_was_understood_stands_beside_what_was_said() -> None:
    _, transcript, _ = called(SCENARIOS["haircut"])
    caller = transcript.said_by(Role.CALLER)
    assert [line.heard for line in caller] == [line.text for line in caller]
    assert transcript.said_by(Role.AGENT)[1].heard == "Could you tell me the time, please?"


def test_a_twist_interrupts_the_agent() -> None:
    """The caller of `flight` changes the time in the middle of a question, which the agent breaks off."""
    _, transcript, metrics = called(SCENARIOS["flight"])
    cut = [line for line in transcript.lines if line.cut]
    assert [line.role for line in cut] == [Role.AGENT]
    interruption = next(line for line in transcript.said_by(Role.CALLER) if line.text.startswith("Wait"))
    assert cut[0].start_ms < interruption.start_ms <= cut[0].end_ms
    assert cut[0].end_ms - interruption.start_ms < 800
    assert metrics.slots["time"].found == "09:00"


def test_a_twist_changes_what_is_booked() -> None:
    _, transcript, _ = called(SCENARIOS["restaurant"])
    assert [(use.arguments["time"], use.done) for use in transcript.tools] == [("19:00", False), ("19:30", True)]
