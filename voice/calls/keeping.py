"""Keeping a call: its recordings as files, and its row."""

from __future__ import annotations

import secrets
from dataclasses import asdict
from pathlib import Path

from django.conf import settings

from voice.calls.holding import Held
from voice.evaluation.measuring import Metrics
from voice.evaluation.transcript import Transcript
from voice.models import Conversation, ScenarioRow, VoiceAgent
from voice.speech.audio import write_wav


def keep_recordings(held: Held) -> tuple[str, str]:
    """Write both sides into a new folder of settings.VOICE["recordings"], for its owner alone. Answers their paths in
    there. Raises OSError."""
    base = Path(settings.VOICE["recordings"])
    name = f"call_{secrets.token_urlsafe(12)}"
    base.mkdir(parents=True, mode=0o700, exist_ok=True)
    (base / name).mkdir(mode=0o700)
    write_wav(base / name / "caller.wav", bytes(held.caller_audio))
    write_wav(base / name / "agent.wav", bytes(held.agent_audio))
    return f"{name}/caller.wav", f"{name}/agent.wav"


def keep_call(
    agent: VoiceAgent, scenario: ScenarioRow, transcript: Transcript, metrics: Metrics, paths: tuple[str, str]
) -> Conversation:
    """The row of a call by script. It belongs to no battle, so that no vote can be about it."""
    told = transcript.json()
    return Conversation.objects.create(
        agent=agent,
        scenario=scenario,
        caller=Conversation.Caller.SCRIPT,
        turns=told["turns"],
        tools=told["tools"],
        total_turns=metrics.total_turns,
        duration_seconds=transcript.duration_s,
        ended=transcript.ended,
        user_audio_path=paths[0],
        agent_audio_path=paths[1],
        avg_response_latency_ms=metrics.latency.average_ms,
        p50_latency_ms=metrics.latency.p50_ms,
        p95_latency_ms=metrics.latency.p95_ms,
        ttfb_avg_ms=metrics.ttfb_ms,
        task_success=metrics.task_success,
        joint_goal_accuracy=metrics.joint_goal_accuracy,
        slots={name: slot._asdict() for name, slot in metrics.slots.items()},
        criteria=dict(metrics.criteria),
        containment=metrics.containment,
        turns_to_completion=metrics.turns_to_completion,
    )


def metrics_json(metrics: Metrics) -> dict[str, object]:
    """What a program reads of them; times are rounded to milliseconds."""
    told = asdict(metrics)
    told["latency"] = {name: _rounded(value) for name, value in metrics.latency._asdict().items()}
    told["ttfb_ms"] = _rounded(metrics.ttfb_ms)
    told["slots"] = {name: slot._asdict() for name, slot in metrics.slots.items()}
    return told


def _rounded(ms: float | None) -> int | None:
    return None if ms is None else round(ms)
