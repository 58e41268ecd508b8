"""The language models of the arena for apps that ask them other than in a battle (`arena.chat`)."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from arena.chat import ChatFailed, Reply
from arena.shapes import FailureReason
from texts.client import AnswerStopped, AnswerStream, Message, ServerFailed
from texts.models import LanguageModel

log = logging.getLogger(__name__)
LONGEST = 50_000
"""Characters of an answer."""
TOLD: Mapping[FailureReason, str] = {"timeout": "the server did not answer in time"}
OTHERWISE = "the server failed"


class ArenaModel:
    """One contestant, asked as in a battle: with its system prompt, its decoding and its most tokens."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    @property
    def id(self) -> str:
        return str(self._model.pk)

    @property
    def name(self) -> str:
        return self._model.name

    def ask(self, prompt: str, within_s: float) -> Reply:
        until = time.monotonic() + within_s
        try:
            return self._reply(prompt, within_s, until)
        except AnswerStopped:
            raise ChatFailed(TOLD["timeout"]) from None
        except ServerFailed as failure:
            log.warning("%s gave no answer: %s", self.id, failure)
            raise ChatFailed(TOLD.get(failure.reason, OTHERWISE)) from None

    def _reply(self, prompt: str, within_s: float, until: float) -> Reply:
        text = ""
        with AnswerStream(self._model, self._messages(prompt), lambda: time.monotonic() > until, within_s) as answer:
            for piece in answer:
                text += piece
                if len(text) > LONGEST:
                    raise ChatFailed(f"the answer has more than {LONGEST} characters")
        tokens = answer.pieces if answer.answer_tokens is None else answer.answer_tokens
        return Reply(text, answer.prompt_tokens or 0, tokens, self._model.cost_of(answer.prompt_tokens, tokens) or 0.0)

    def _messages(self, prompt: str) -> list[Message]:
        system = self._model.system_prompt
        told = [{"role": "system", "content": system}] if system else []
        return [*told, {"role": "user", "content": prompt}]


def models() -> dict[str, ArenaModel]:
    """Those that may be drawn for battles: their servers answer."""
    return {model.pk: ArenaModel(model) for model in LanguageModel.objects.contestants().order_by("pk")}
