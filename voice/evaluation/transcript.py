"""What happened in a conversation, as evaluation reads it: words and calls of tools in the order of one clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    CALLER = "caller"
    AGENT = "agent"


@dataclass(frozen=True)
class Line:
    """What somebody said. `text`: the words; `heard`: what the other side's recogniser made of them, "" if unknown.
    `latency_ms`: how long the caller waited for it; None where nothing was waited for. `cut`: it was interrupted."""

    role: Role
    text: str
    start_ms: float
    end_ms: float
    heard: str = ""
    latency_ms: float | None = None
    cut: bool = False


@dataclass(frozen=True)
class ToolUse:
    """A call of a tool and its canned result."""

    tool: str
    arguments: Mapping[str, Any]
    done: bool
    at_ms: float


@dataclass(frozen=True)
class Transcript:
    """A whole conversation, in order of time."""

    lines: Sequence[Line] = ()
    tools: Sequence[ToolUse] = ()
    ended: str = ""
    """Why it ended: one of `voice.agents.base.ENDS`."""
    duration_s: float = 0.0

    def said_by(self, role: Role) -> list[Line]:
        return [line for line in self.lines if line.role is role]

    def json(self) -> dict[str, Any]:
        return {"turns": [asdict(line) for line in self.lines], "tools": [asdict(use) for use in self.tools]}
