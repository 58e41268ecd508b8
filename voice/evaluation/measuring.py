"""All that is computed of a conversation by rules, from its transcript and its recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from voice.evaluation.goals import Filled, filled_slots, joint_goal_accuracy, slot_accuracy
from voice.evaluation.latency import Latency, latency, waits
from voice.evaluation.outcome import is_contained, met, succeeded, turns_to_completion
from voice.evaluation.transcript import Role, Transcript
from voice.scenarios.model import Scenario
from voice.speech.turns import Span


@dataclass(frozen=True)
class Metrics:
    """`ttfb_ms`: on average, from the end of the caller's speech to the first audio that came of the agent."""

    latency: Latency
    ttfb_ms: float | None
    slots: Mapping[str, Filled]
    joint_goal_accuracy: float
    slot_accuracy: float
    criteria: Mapping[str, bool]
    task_success: bool
    containment: bool
    total_turns: int
    turns_to_completion: int | None


def measure(
    scenario: Scenario,
    transcript: Transcript,
    caller: Sequence[Span],
    agent: Sequence[Span],
    first_audio: Sequence[float],
) -> Metrics:
    """`caller`, `agent`: their utterances in the recordings; `first_audio`: when [ms] audio of the agent came that was
    played at once. All on one clock."""
    filled = filled_slots(scenario, transcript)
    right = joint_goal_accuracy(filled)
    arrived = waits(caller, [Span(at, at) for at in first_audio])
    return Metrics(
        latency=latency(waits(caller, agent)),
        ttfb_ms=sum(arrived) / len(arrived) if arrived else None,
        slots=filled,
        joint_goal_accuracy=right,
        slot_accuracy=slot_accuracy(filled),
        criteria=met(scenario, transcript),
        task_success=succeeded(scenario, transcript, right == 1.0),
        containment=is_contained(scenario, transcript),
        total_turns=len(transcript.said_by(Role.CALLER)),
        turns_to_completion=turns_to_completion(scenario, transcript),
    )
