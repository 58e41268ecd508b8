"""Entering the shipped scenarios and the local agents. What is there is left as it is: it may have been edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.models import ContestantStatus
from simulation.catalogue_rows import read_rows
from voice.agents.kinds import LANGUAGE, LOCAL, RULES
from voice.models import ScenarioRow, VoiceAgent
from voice.scenarios.model import DURATION_S, TURNS
from voice.scenarios.reading import FOLDER, shipped

STT, TTS = "Whisper tiny.en, 8 bits (faster-whisper)", "hibari-tts 0.2.1, heart"
NO_MODEL = "model: ARENA_VOICE_MODEL_URL names no language model"
"""Why the agent with a language model is unavailable. A moderator's reason stays."""
MAKER: Mapping[str, Any] = {
    "family": "local cascade",
    "organization": "this project",
    "license": "Apache-2.0",
    "provider": LOCAL,
    "architecture_type": "cascade",
}
AGENTS: Mapping[str, Mapping[str, Any]] = {
    "local-rules": {
        "name": "Local cascade, rules",
        "description": "Silero VAD, Whisper tiny.en, a dialogue manager of rules (no language model), hibari-tts.",
        "components": {"stt": STT, "llm": "none: rules", "tts": TTS},
        "config": {"mind": RULES},
    },
    "local-rules-hasty": {
        "name": "Local cascade, rules, hasty",
        "description": "The same, but it takes half a second of silence for the end of a turn instead of 0.8.",
        "components": {"stt": STT, "llm": "none: rules", "tts": TTS},
        "config": {"mind": RULES, "end_ms": 500},
    },
    "local-language": {
        "name": "Local cascade, language model",
        "description": "Silero VAD, Whisper tiny.en, the language model of the settings, hibari-tts.",
        "components": {"stt": STT, "llm": "the model of ARENA_VOICE_MODEL", "tts": TTS},
        "config": {"mind": LANGUAGE},
    },
}
"""Honest names: what they are made of, and what is missing."""


def seed_scenarios() -> list[str]:
    """Enter the scenarios of the files that are not there. Answers their ids."""
    shipped()  # refuses what is wrong before anything is entered
    known, added = set(ScenarioRow.objects.values_list("pk", flat=True)), []
    for path in sorted(FOLDER.glob("*.yaml")):
        for row in read_rows(path.read_text("utf-8"), path.name):
            if row["id"] not in known:
                ScenarioRow.objects.create(**_columns(dict(row)))
                added.append(str(row["id"]))
    return added


def _columns(row: dict[str, Any]) -> dict[str, Any]:
    row = {"twists": [], "max_turns": TURNS, "max_duration_seconds": DURATION_S, **row}
    return {column: row[field] for field, column in ScenarioRow.COLUMNS.items()}


def seed_agents(has_model: bool) -> list[str]:
    """Enter the local agents that are not there. Answers their ids. `has_model`: whether a language model is set; the
    agent that needs one is unavailable without, and comes back with it."""
    known = set(VoiceAgent.objects.filter(pk__in=AGENTS).values_list("pk", flat=True))
    for agent_id in AGENTS.keys() - known:
        VoiceAgent.objects.create(id=agent_id, **MAKER, **AGENTS[agent_id])
    for row in VoiceAgent.objects.filter(provider=LOCAL, config__mind=LANGUAGE):
        if not has_model and row.status == ContestantStatus.ACTIVE:
            row.mark_unavailable(NO_MODEL)
        elif has_model and row.status_reason == NO_MODEL:
            row.activate()
    return [agent_id for agent_id in AGENTS if agent_id not in known]
