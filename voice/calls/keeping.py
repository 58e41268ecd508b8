"""Keeping a call: its recordings as files, and its row."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from voice.calls.caller import Said
from voice.calls.holding import AgentLine, Held
from voice.calls.notes import transcript_of
from voice.calls.track import Track
from voice.evaluation.measuring import Metrics
from voice.evaluation.transcript import Role, ToolUse, Transcript
from voice.models import Call, Conversation, ScenarioRow, VoiceAgent
from voice.speech.audio import read_wav, write_wav
from voice.speech.opus import read_opus, write_opus

OPUS = ".opus"
RECORDED = ~Q(user_audio_path="") | ~Q(agent_audio_path="")
"""Conversations of which a recording is kept."""


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
    agent: VoiceAgent,
    scenario: ScenarioRow,
    transcript: Transcript,
    metrics: Metrics,
    paths: tuple[str, str],
    caller: str,
) -> Conversation:
    """The row of a call without a visitor. It belongs to no battle, so that no vote can be about it."""
    told = transcript.json()
    return Conversation.objects.create(
        agent=agent,
        scenario=scenario,
        caller=caller,
        turns=told["turns"],
        tools=told["tools"],
        duration_seconds=transcript.duration_s,
        ended=transcript.ended,
        user_audio_path=paths[0],
        agent_audio_path=paths[1],
        **columns_of(metrics),
    )


def columns_of(metrics: Metrics) -> dict[str, Any]:
    """What is computed of a call, by the columns of its row."""
    return {
        "total_turns": metrics.total_turns,
        "avg_response_latency_ms": metrics.latency.average_ms,
        "p50_latency_ms": metrics.latency.p50_ms,
        "p95_latency_ms": metrics.latency.p95_ms,
        "ttfb_avg_ms": metrics.ttfb_ms,
        "task_success": metrics.task_success,
        "joint_goal_accuracy": metrics.joint_goal_accuracy,
        "slots": {name: slot._asdict() for name, slot in metrics.slots.items()},
        "criteria": dict(metrics.criteria),
        "containment": metrics.containment,
        "turns_to_completion": metrics.turns_to_completion,
    }


def keep_held(call: Call, held: Held) -> Conversation:
    """The row of a visitor's call, and its recordings. What is computed of it comes after the vote. The times of its
    lines are those of the frames until then. Raises OSError."""
    transcript, paths = transcript_of(held, [], []), keep_recordings(held)
    told = transcript.json()
    return Conversation.objects.create(
        call=call,
        agent_id=getattr(call.battle, f"{call.side}_model_id"),
        scenario_id=call.battle.session.scene,
        agent_label=call.label,
        caller=Conversation.Caller.VISITOR,
        turns=told["turns"],
        tools=told["tools"],
        total_turns=len(held.caller_lines),
        duration_seconds=held.duration_s,
        ended=held.ended,
        first_audio_ms=held.first_audio_ms,
        user_audio_path=paths[0],
        agent_audio_path=paths[1],
    )


def held_again(kept: Conversation) -> Held:
    """A call as it was held, from its row and its recordings. Raises OSError and ValueError for recordings that are not
    there (any more)."""
    if not kept.user_audio_path:
        raise FileNotFoundError("the recordings were deleted")
    base = Path(settings.VOICE["recordings"])
    said = [turn for turn in kept.turns if turn["role"] == Role.CALLER]
    answers = [turn for turn in kept.turns if turn["role"] == Role.AGENT]
    return Held(
        Track(_read(base / kept.user_audio_path)),
        Track(_read(base / kept.agent_audio_path)),
        caller_lines=[Said(turn["text"], turn["start_ms"], turn["end_ms"]) for turn in said],
        agent_lines=[AgentLine(turn["text"], turn["start_ms"], turn["end_ms"], turn["cut"]) for turn in answers],
        tools=[ToolUse(**use) for use in kept.tools],
        first_audio_ms=list(kept.first_audio_ms),
        ended=kept.ended,
    )


def _read(path: Path) -> bytes:
    return read_opus(path) if path.suffix == OPUS else read_wav(path)


def compress(kept: Conversation) -> None:
    """Keep both recordings as Opus in place of WAV. Safe to repeat. Raises OSError and ValueError, and leaves the WAV
    then."""
    base = Path(settings.VOICE["recordings"])
    fields = ("user_audio_path", "agent_audio_path")
    wavs = {name: Path(path) for name in fields if (path := getattr(kept, name)) and Path(path).suffix != OPUS}
    for name, path in wavs.items():
        write_opus(base / path.with_suffix(OPUS), read_wav(base / path))
        setattr(kept, name, str(path.with_suffix(OPUS)))
    kept.save(update_fields=[*wavs])
    for path in wavs.values():
        (base / path).unlink(missing_ok=True)


def forget(episode_ids: Collection[str]) -> None:
    """Delete the recordings and the words of these attempts. The row stays, with what was computed."""
    for kept in Conversation.objects.filter(RECORDED, attempt__episode_id__in=episode_ids):
        delete_recordings(kept)


def expire(since: datetime | None) -> None:
    """Delete the recordings and words of calls of which no turn was made and whose battle was not touched `since` then,
    and the recordings of all other calls of visitors that are older than settings.VOICE["recording_days"]; 0: never."""
    of_visitors = Conversation.objects.filter(RECORDED).exclude(call=None)
    if since:
        for kept in of_visitors.filter(attempt=None, call__battle__updated_at__lt=since):
            delete_recordings(kept)
    if days := settings.VOICE["recording_days"]:
        for kept in of_visitors.filter(created_at__lt=timezone.now() - timedelta(days=days)):
            delete_recordings(kept, words=False)


def delete_recordings(kept: Conversation, words: bool = True) -> None:
    """Delete the recordings of a conversation, both or the one there is, and its `words`. To be repeated where it was
    interrupted."""
    for path in filter(None, (kept.user_audio_path, kept.agent_audio_path)):
        shutil.rmtree(Path(settings.VOICE["recordings"]) / Path(path).parent, ignore_errors=True)
    kept.user_audio_path = kept.agent_audio_path = ""
    kept.turns = [] if words else kept.turns
    kept.save(update_fields=["user_audio_path", "agent_audio_path", "turns"])


def metrics_json(metrics: Metrics) -> dict[str, object]:
    """What a program reads of them; times are rounded to milliseconds."""
    told = asdict(metrics)
    told["latency"] = {name: _rounded(value) for name, value in metrics.latency._asdict().items()}
    told["ttfb_ms"] = _rounded(metrics.ttfb_ms)
    told["slots"] = {name: slot._asdict() for name, slot in metrics.slots.items()}
    return told


def _rounded(ms: float | None) -> int | None:
    return None if ms is None else round(ms)
