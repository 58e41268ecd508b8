"""Answers that a model has given already, for equal prompts at temperature 0. Off unless ARENA_TEXT_CACHE_HOURS is set.

Only what would be asked again in the same words of the same model decides about a hit: the server, its model, how it
decodes, and the whole conversation. Visitors see a kept answer at the pace of every other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.conf import settings
from django.core.cache import cache

from texts.models import LanguageModel

Message = dict[str, str]
MOST_CHARACTERS = 20_000
"""A longer answer is not kept."""


@dataclass(frozen=True)
class Said:
    """An answer and what it took. `counted`: the tokens, by the server. `cached`: it was given before."""

    text: str
    finish_reason: str
    prompt_tokens: int | None
    answer_tokens: int
    counted: bool
    first_token_ms: float
    duration_ms: float
    cached: bool = False


def is_on(model: LanguageModel) -> bool:
    """Other temperatures would give another answer each time."""
    return bool(settings.TEXT["cache_hours"]) and model.temperature == 0.0


def recall(model: LanguageModel, messages: Sequence[Message]) -> Said | None:
    """The answer that the model has given to this conversation, if it is kept."""
    found = cache.get(_key(model, messages)) if is_on(model) else None
    return None if found is None else Said(**{**found, "cached": True})


def keep(model: LanguageModel, messages: Sequence[Message], said: Said) -> None:
    if is_on(model) and not said.cached and len(said.text) <= MOST_CHARACTERS:
        cache.set(_key(model, messages), asdict(said), timeout=3600.0 * settings.TEXT["cache_hours"])


def _key(model: LanguageModel, messages: Sequence[Message]) -> str:
    decoding = [model.top_p, model.max_tokens, model.extra_body, settings.TEXT["answer_characters"]]
    asked = [model.pk, model.base_url, model.served_name, decoding, list(messages)]
    return f"text-answer:{hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()}"
