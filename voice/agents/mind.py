"""What decides the words of a cascade: between the recogniser and the voice."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Protocol

from voice.agents.base import ToolCall
from voice.scenarios.model import Result, Scenario

SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[A-Z0-9\"“'*_])")
ABBREVIATION = re.compile(r"(?:\b(?:[ap]\.m|Mr|Mrs|Ms|Dr|St|No|[A-Z])\.)$")
MARKUP = re.compile(r"[*_#`>|]+|\[([^\]]*)\]\([^)]*\)|https?://\S+")


class ToolDesk:
    """The tools of one conversation: answers by the scenario, and tells of every call."""

    def __init__(self, scenario: Scenario, called: Callable[[ToolCall], None]) -> None:
        self._scenario, self._called = scenario, called

    def call(self, tool_id: str, arguments: Mapping[str, Any]) -> tuple[Result, str]:
        """The canned result, and its message with the arguments in it. Raises KeyError for an unknown tool."""
        tool = self._scenario.tools[tool_id]
        known = {name: str(value) for name, value in arguments.items() if name in tool.parameters}
        result = tool.answer(known)
        message = tool.told(result, known)
        canonical = {name: tool.parameters[name].canonical(value) for name, value in known.items()}
        self._called(ToolCall(tool_id, canonical, result.done, message))
        return result, message


class Mind(Protocol):
    """Decides what is said in one conversation."""

    @property
    def finished(self) -> bool:
        """Whether it has said goodbye: the call ends after its words."""
        ...

    def greet(self) -> str:
        """Its first words."""
        ...

    def reply(self, said: str, desk: ToolDesk) -> AsyncGenerator[str, None]:
        """Answer what the caller said, sentence by sentence, each as soon as it is there. Raises AgentFailed. Is given
        up in the middle where the caller interrupts; `spoken` then tells what was heard of it."""
        ...

    def spoken(self, text: str) -> None:
        """What the caller heard of the last answer."""
        ...


def sentences(text: str) -> list[str]:
    """The text in sentences; "4 p.m." and "Dr. Smith" do not end one."""
    found: list[str] = []
    for part in SENTENCE_END.split(text.strip()):
        if found and ABBREVIATION.search(found[-1]) and not _begins_anew(found[-1], part):
            found[-1] = f"{found[-1]} {part}"
        elif part:
            found.append(part)
    return found


def _begins_anew(before: str, after: str) -> bool:
    """Whether a sentence ends with "p.m."; after a title or an initial none does."""
    return bool(re.search(r"\b[ap]\.m\.$", before)) and after[:1].isupper()


def speakable(text: str) -> str:
    """Without the marks and addresses that a voice would read out."""
    words = " ".join(MARKUP.sub(lambda found: found[1] or " ", text).split())
    return re.sub(r" (?=[.,!?;:])", "", words)
