"""Entering the shipped scenarios and agents. What is there is left as it is: it may have been edited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings

from arena.models import ContestantStatus
from simulation.catalogue_rows import read_rows
from voice.agents.kinds import LANGUAGE, LOCAL, RETELL, RULES, VAPI
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


NO_KEY = {VAPI: "key: VAPI_API_KEY is not set", RETELL: "key: RETELL_API_KEY is not set"}
"""Provider -> why its agents are unavailable."""
WIRE = {VAPI: "websocket transport", RETELL: "audio socket"}


def _hosted(provider: str, name: str, components: Mapping[str, str], config: Mapping[str, Any]) -> dict[str, Any]:
    title = provider.capitalize()
    return {
        "name": f"{title}: {name}",
        "description": f"An agent of {title} over its {WIRE[provider]}. Its parts can be changed in the admin.",
        "family": title,
        "organization": title,
        "license": "hosted",
        "provider": provider,
        "architecture_type": "orchestrator",
        "components": dict(components),
        "config": dict(config),
    }


def _vapi(name: str, maker: str, model: str) -> dict[str, Any]:
    """Deepgram listens and ElevenLabs speaks: what Vapi's own examples have."""
    return _hosted(
        VAPI,
        name,
        {"stt": "deepgram nova-2", "llm": f"{maker} {model}", "tts": "11labs burt"},
        {
            "model": {"provider": maker, "model": model},
            "voice": {"provider": "11labs", "voiceId": "burt"},
            "transcriber": {"provider": "deepgram", "model": "nova-2"},
        },
    )


def _retell(name: str, model: str) -> dict[str, Any]:
    parts = {"stt": "chosen by Retell", "llm": model, "tts": "11labs-Adrian"}
    return _hosted(RETELL, name, parts, {"llm": {"model": model}, "voice_id": "11labs-Adrian"})


def _retell_s2s(name: str, model: str) -> dict[str, Any]:
    parts = {"stt": "none: speech to speech", "llm": model, "tts": "openai-Alloy"}
    about = _hosted(RETELL, name, parts, {"llm": {"s2s_model": model}, "voice_id": "openai-Alloy"})
    return {**about, "architecture_type": "s2s"}


HOSTED: Mapping[str, Mapping[str, Any]] = {
    "vapi-gpt-4o-mini": _vapi("GPT-4o mini", "openai", "gpt-4o-mini"),
    "vapi-gpt-4o": _vapi("GPT-4o", "openai", "gpt-4o"),
    "vapi-claude": _vapi("Claude Haiku 4.5", "anthropic", "claude-haiku-4-5-20251001"),
    "retell-gpt-mini": _retell("GPT-4.1 mini", "gpt-4.1-mini"),
    "retell-claude": _retell("Claude 4.5 Haiku", "claude-4.5-haiku"),
    "retell-realtime": _retell_s2s("GPT Realtime", "gpt-realtime"),
}
"""Unavailable until the provider's key is set."""


def seed_hosted(keys: Mapping[str, str]) -> list[str]:
    """Enter the configurations of hosted providers that are not there. Answers their ids. `keys`: provider -> its key;
    without one its agents are unavailable, and come back with it."""
    known = set(VoiceAgent.objects.filter(pk__in=HOSTED).values_list("pk", flat=True))
    for agent_id in HOSTED.keys() - known:
        VoiceAgent.objects.create(id=agent_id, **HOSTED[agent_id])
    for provider, reason in NO_KEY.items():
        _mark(VoiceAgent.objects.filter(provider=provider), bool(keys[provider]), reason)
    return [agent_id for agent_id in HOSTED if agent_id not in known]


def seed() -> None:
    """Enter everything that ships, as far as it is not there."""
    about = settings.VOICE
    seed_scenarios()
    seed_agents(bool(about["model_url"]))
    seed_hosted({VAPI: about["vapi_key"], RETELL: about["retell_key"]})


def _mark(rows: Iterable[VoiceAgent], can_be_used: bool, trouble: str) -> None:
    """Make agents unavailable for this reason, or take it back. A moderator's reason stays."""
    for row in rows:
        if not can_be_used and row.status == ContestantStatus.ACTIVE:
            row.mark_unavailable(trouble)
        elif can_be_used and row.status_reason == trouble:
            row.activate()


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
    _mark(VoiceAgent.objects.filter(provider=LOCAL, config__mind=LANGUAGE), has_model, NO_MODEL)
    return [agent_id for agent_id in AGENTS if agent_id not in known]
