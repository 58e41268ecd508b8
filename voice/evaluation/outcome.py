"""What came of a conversation: success by criteria, containment, and how many turns it took."""

from __future__ import annotations

from voice.evaluation.transcript import Role, Transcript
from voice.scenarios.model import Criterion, Scenario
from voice.scenarios.slots import has_phrase

HANDED_OVER = (
    "transfer you", "connect you with", "connect you to", "pass you on", "put you through", "hand you over",
    "speak with a representative", "a colleague will",
)  # fmt: skip
"""What agents say when they pass a caller on without a tool for it."""
RESOLVED = {"caller_hung_up", "agent_hung_up"}
"""The ends of a conversation that somebody wanted."""


def is_met(criterion: Criterion, transcript: Transcript) -> bool:
    """Whether a part of success is there."""
    if criterion.calls:
        return any(use.tool == criterion.calls and use.done for use in transcript.tools)
    words = [line.text for line in transcript.said_by(Role.AGENT)]
    return any(has_phrase(text, phrase) for text in words for phrase in criterion.says)


def met(scenario: Scenario, transcript: Transcript) -> dict[str, bool]:
    """Each success criterion by its id, and whether it is met."""
    return {each.id: is_met(each, transcript) for each in scenario.success_criteria}


def succeeded(scenario: Scenario, transcript: Transcript, slots_right: bool) -> bool:
    """Whether all criteria are met and all required slots right: the task is done, and for what the caller wanted."""
    return slots_right and all(met(scenario, transcript).values())


def is_contained(scenario: Scenario, transcript: Transcript) -> bool:
    """Whether the agent kept the caller to the end: nobody was passed on to people, and the call ended because one of
    them hung up, not by a limit or a failure."""
    return transcript.ended in RESOLVED and not _handed_over(scenario, transcript)


def _handed_over(scenario: Scenario, transcript: Transcript) -> bool:
    by_tool = any(use.tool in scenario.tools and scenario.tools[use.tool].hands_over for use in transcript.tools)
    words = [line.text for line in transcript.said_by(Role.AGENT)]
    return by_tool or any(has_phrase(text, phrase) for text in words for phrase in HANDED_OVER)


def turns_to_completion(scenario: Scenario, transcript: Transcript) -> int | None:
    """How many times the caller spoke until all success criteria were met; None if they never were."""
    for line in transcript.said_by(Role.AGENT):
        until = Transcript(
            [each for each in transcript.lines if each.start_ms <= line.start_ms],
            [each for each in transcript.tools if each.at_ms <= line.end_ms],
        )
        if all(met(scenario, until).values()):
            return len(until.said_by(Role.CALLER))
    return None
