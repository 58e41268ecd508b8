"""What visitors learn of a conversation after the vote: its end and its figures, and its recordings."""

from __future__ import annotations

from typing import Any

from arena.models import Attempt
from voice.models import Conversation

AUDIO = {"caller": "user_audio_path", "agent": "agent_audio_path"}
"""Whose recording -> its column."""
TYPES = {".wav": "audio/wav", ".opus": "audio/ogg"}
"""Suffix of a recording -> its media type."""
FIGURES = (
    "avg_response_latency_ms",
    "p50_latency_ms",
    "p95_latency_ms",
    "ttfb_avg_ms",
    "task_success",
    "joint_goal_accuracy",
    "containment",
    "total_turns",
    "turns_to_completion",
)
STATES = (
    Conversation.Evaluation.FAILED,
    Conversation.Evaluation.NONE,
    Conversation.Evaluation.COMPUTING,
    Conversation.Evaluation.PARTIAL,
    Conversation.Evaluation.COMPLETE,
)
"""From the least to the most that is known."""


def summary(held: Conversation) -> dict[str, Any]:
    """Plain values, null where a figure is not computed yet, or cannot be."""
    return {
        **{name: _rounded(name, getattr(held, name)) for name in FIGURES},
        "evaluation": held.evaluation,
        "slots_right": sum(bool(slot["right"]) for slot in held.slots.values()),
        "slots_required": len(held.slots),
    }


def figures(held: Conversation) -> dict[str, Any]:
    """The summary with every slot and criterion. The judge's verdict is null with a reason."""
    return {
        **summary(held),
        "ended": held.ended,
        "slots": held.slots,
        "criteria": held.criteria,
        "turns": held.turns,
        "tools": held.tools,
        "judge": held.judge,
        "judge_missing": held.judge_missing,
    }


def _rounded(name: str, value: Any) -> Any:
    return round(value) if name.endswith("_ms") and value is not None else value


def audio_of(attempt: Attempt) -> dict[str, str] | None:
    """The addresses of both recordings; None where there are none (any more)."""
    held = getattr(attempt, "conversation", None)
    if held is None or not all(getattr(held, column) for column in AUDIO.values()):
        return None
    return {whose: f"/api/episodes/{attempt.episode_id}/{whose}-audio" for whose in AUDIO}


def status_of(held: list[Conversation]) -> str:
    """Of both conversations together: computing until something is known of both."""
    state = min((Conversation.Evaluation(each.evaluation) for each in held), key=STATES.index)
    return "computing" if state == Conversation.Evaluation.NONE else str(state)
