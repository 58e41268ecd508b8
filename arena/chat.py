"""Language models for apps that are no kind themselves: a kind that has some registers them here, and an app that asks
them knows no more than this. No Django."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol


class ChatFailed(Exception):
    """A model gave no answer. The text may be shown to anybody: it names no server."""


class Reply(NamedTuple):
    """An answer. A count that its server does not tell is 0, and so is the cost [US dollars] without a price."""

    text: str
    prompt_tokens: int
    answer_tokens: int
    cost: float


class ChatModel(Protocol):
    """`id` is unique among all; `name` is what boards call the model."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    def ask(self, prompt: str, within_s: float) -> Reply:
        """The answer to one prompt, without a conversation. Raises ChatFailed, also where there is none in time. Uses
        no database, so that threads may call it."""
        ...


_sources: dict[str, Callable[[], Mapping[str, ChatModel]]] = {}


def register(source: str, models: Callable[[], Mapping[str, ChatModel]]) -> None:
    """From `AppConfig.ready`. `models` answers id -> model of those that can be asked now."""
    _sources[source] = models


def every() -> dict[str, ChatModel]:
    """All models that can be asked now, by id."""
    return {name: model for models in _sources.values() for name, model in models().items()}
