"""The providers of voice agents, and how an agent's row says how it is set up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LOCAL, VAPI, RETELL = "local", "vapi", "retell"
PROVIDERS = (LOCAL, VAPI, RETELL)
"""Those with an adapter."""
RULES, LANGUAGE = "rules", "language"
MINDS = (RULES, LANGUAGE)
CONFIG = {"mind", "end_ms", "tools", "extra_body"}
"""What the `config` of a local agent may have."""
ASSISTANT = {"model", "voice", "transcriber"}
"""What the `config` of an agent of Vapi has: mappings with a `provider`, as in the `assistant` of Vapi's POST /call."""
LLMS = ("model", "s2s_model")
"""Of Retell: the name of a language model, or of one from speech to speech."""
SHORTEST_END_MS, LONGEST_END_MS = 200, 3000


def check_config(provider: str, config: Any) -> None:
    """Raises ValueError, which says what would have been right."""
    if provider not in PROVIDERS:
        raise ValueError(f"unknown provider {provider!r}; known are {', '.join(PROVIDERS)}")
    if provider == VAPI:
        return _check_assistant(config)
    if provider == RETELL:
        return _check_retell(config)
    if not isinstance(config, Mapping) or not set(config) <= CONFIG:
        raise ValueError(f"expected a mapping with any of {', '.join(sorted(CONFIG))}, got {config!r}")
    if config.get("mind") not in MINDS:
        raise ValueError(f"mind: expected one of {', '.join(MINDS)}, got {config.get('mind')!r}")
    end_ms = config.get("end_ms", 800)
    if not isinstance(end_ms, int) or isinstance(end_ms, bool) or not SHORTEST_END_MS <= end_ms <= LONGEST_END_MS:
        raise ValueError(f"end_ms: expected a whole number, {SHORTEST_END_MS}..{LONGEST_END_MS}, got {end_ms!r}")
    if not isinstance(config.get("tools", True), bool):
        raise ValueError(f"tools: expected true or false, got {config['tools']!r}")
    if not isinstance(config.get("extra_body", {}), dict):
        raise ValueError(f"extra_body: expected a mapping, got {config['extra_body']!r}")
    return None


def _check_assistant(config: Any) -> None:
    parts = config.values() if isinstance(config, Mapping) and set(config) == ASSISTANT else [None]
    if not all(isinstance(part, Mapping) and isinstance(part.get("provider"), str) for part in parts):
        raise ValueError(f"expected {', '.join(sorted(ASSISTANT))}, each a mapping with a provider, got {config!r}")


def _check_retell(config: Any) -> None:
    match config:
        case {"llm": dict(llm), "voice_id": str()} if len(config) == len(("llm", "voice_id")):
            if len(llm) == 1 and any(isinstance(llm.get(name), str) for name in LLMS):
                return
    raise ValueError(f"expected llm ({{model}} or {{s2s_model}}, each a name) and voice_id, got {config!r}")
