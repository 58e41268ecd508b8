"""One interface for every voice agent, whoever provides it: audio in, events out.

Audio is 16 kHz, mono, s16le, both ways. An adapter turns what its provider sends into these events, and nothing of the
provider goes any further.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from voice.evaluation.transcript import Role
from voice.scenarios.model import Scenario

ENDS = {
    "caller_hung_up": "the caller ended the call",
    "agent_hung_up": "the agent ended the call",
    "turn_limit": "the most turns of the scenario were used",
    "time_limit": "the longest duration of the scenario was reached",
    "agent_silent": "the agent said nothing for too long",
    "agent_failed": "the agent failed",
    "caller_gone": "the caller's connection was lost",
    "caller_silent": "the caller said nothing for too long",
}
"""Why a conversation ends. The words name nobody."""


@dataclass(frozen=True)
class AudioChunk:
    """Speech of the agent, to be played after what came before it. Silence between utterances is not sent."""

    audio: bytes = field(repr=False)


@dataclass(frozen=True)
class TranscriptUpdate:
    """What somebody said, as the provider tells it. The last one of an utterance is `final`."""

    role: Role
    text: str
    final: bool = True


@dataclass(frozen=True)
class ToolCall:
    """The agent called a tool. `done`: whether the canned result was what was asked."""

    tool: str
    arguments: Mapping[str, Any]
    done: bool
    message: str


@dataclass(frozen=True)
class Interrupted:
    """The caller spoke: what was sent and not played yet is to be dropped."""


@dataclass(frozen=True)
class SessionEnd:
    """Nothing follows. `reason`: one of ENDS. `story` is for operators, and may name the provider."""

    reason: str
    story: str = ""


Event = AudioChunk | TranscriptUpdate | ToolCall | Interrupted | SessionEnd


class AgentFailed(Exception):
    """An agent cannot be reached or used. The text is for operators."""


class Agent(Protocol):
    """One conversation with one agent. Opened once, closed once."""

    async def open(self, scenario: Scenario) -> None:
        """Begin. The agent greets, and then answers. Raises AgentFailed."""
        ...

    async def hear(self, audio: bytes) -> None:
        """What the caller's microphone gave since, silence included."""
        ...

    def events(self) -> AsyncIterator[Event]:
        """Everything that the agent does, until its SessionEnd. To be read by one reader."""
        ...

    async def close(self) -> None:
        """End the conversation at the provider, and let go of everything. Safe to repeat, also where `open` failed."""
        ...
