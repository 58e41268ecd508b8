"""Entering a language model into the registry, once its server has answered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError

from arena.models import Contestant
from texts.client import AnswerStream, ServerFailed, served_names
from texts.models import TEXT, LanguageModel

ASKED = [{"role": "user", "content": "In one sentence: why is the sky blue?"}]


class NotAdded(Exception):
    """The model was not entered; the text says what to change."""


@dataclass(frozen=True)
class Tried:
    """One answer of the server. `tokens`: as counted by the server, or the parts of its stream."""

    text: str
    tokens: int
    first_token_ms: float
    duration_ms: float

    @property
    def tokens_per_s(self) -> float:
        """While it wrote."""
        return self.tokens / max(1e-3, (self.duration_ms - self.first_token_ms) / 1e3)


def listed(model: LanguageModel) -> list[str]:
    """The models that the server lists. Raises NotAdded."""
    try:
        return served_names(model)
    except ServerFailed as failure:
        raise NotAdded(f"{model.base_url} does not list its models: {failure}") from failure


def choose(names: Sequence[str], wanted: str) -> str:
    """The name under which the server has the model: the wanted one, or the only one. Raises NotAdded."""
    if wanted in names:
        return wanted
    if not wanted and len(names) == 1:
        return names[0]
    known = ", ".join(names) or "none"
    raise NotAdded(f"the server has no model {wanted!r}; it lists: {known}" if wanted else f"name one of: {known}")


def add_model(model: LanguageModel) -> Tried:
    """Try one answer and save the row. Raises NotAdded, and saves nothing then."""
    other = Contestant.objects.filter(pk=model.id).exclude(kind=TEXT).first()
    if other is not None:
        raise NotAdded(f"{model.id} is a contestant of the kind {other.kind}")
    tried = try_answer(model)
    model.save()
    return tried


def checked(model: LanguageModel) -> LanguageModel:
    """The row itself, if its columns are valid. Raises NotAdded."""
    try:
        model.full_clean(validate_unique=False, validate_constraints=False, exclude=["contestant_ptr"])
    except ValidationError as error:
        raise NotAdded("; ".join(f"{name}: {' '.join(said)}" for name, said in error.message_dict.items())) from None
    return model


def try_answer(model: LanguageModel) -> Tried:
    """Ask it something short. Raises NotAdded."""
    began, first, text = time.perf_counter(), None, ""
    try:
        with AnswerStream(model, ASKED) as answer:
            for piece in answer:
                first = first or time.perf_counter()
                text += piece
    except ServerFailed as failure:
        raise NotAdded(f"{model.served_name} does not answer: {failure}") from failure
    if first is None:
        raise NotAdded(f"{model.served_name} answers nothing")
    tokens = answer.pieces if answer.answer_tokens is None else answer.answer_tokens
    return Tried(text, tokens, (first - began) * 1e3, (time.perf_counter() - began) * 1e3)
