"""Joint goal accuracy: whether every required slot has the right value at the end, read out by rules.

The term is that of dialogue state tracking (Henderson et al., 2014): the joint goal is right if all slots are. Here it
is measured once, at the end, on what the agent did: the arguments of its calls of tools, and where no call had the
slot, what it said. Words of the caller do not count: an agent that understood nothing would otherwise be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from voice.evaluation.transcript import Role, Transcript
from voice.scenarios.model import Scenario
from voice.scenarios.slots import Name, Slot, has_phrase


class Filled(NamedTuple):
    """A required slot. `found`: its canonical value, None if there is none. `source`: "call", "speech" or ""."""

    expected: str
    found: str | None
    source: str
    right: bool


def filled_slots(scenario: Scenario, transcript: Transcript) -> dict[str, Filled]:
    """Each required slot as the agent left it. The last value counts: callers change their minds."""
    return {name: _filled(scenario, name, transcript) for name in scenario.required_slots}


def _filled(scenario: Scenario, name: str, transcript: Transcript) -> Filled:
    slot, expected = scenario.slots[name], scenario.required_slots[name]
    called = [slot.canonical(str(use.arguments[name])) for use in transcript.tools if name in use.arguments]
    said = [] if called else _said(slot, expected.all, transcript)
    values = called or said
    found = values[-1] if values else None
    source = "call" if called else "speech" if said else ""
    return Filled(expected.value, found, source, found in expected.all)


def _said(slot: Slot, accepted: tuple[str, ...], transcript: Transcript) -> list[str]:
    """Values in the agent's words. A name is looked for, since agents say it in any sentence; all others are read."""
    words = [line.text for line in transcript.said_by(Role.AGENT)]
    if isinstance(slot, Name):
        return [name for text in words for name in accepted if has_phrase(text, name)]
    return [value for text in words for value in slot.mentions(text)]


def joint_goal_accuracy(filled: Mapping[str, Filled]) -> float:
    """1.0 if every slot is right, else 0.0."""
    return float(all(slot.right for slot in filled.values()))


def slot_accuracy(filled: Mapping[str, Filled]) -> float:
    """The share of slots that are right (0..1)."""
    return sum(slot.right for slot in filled.values()) / len(filled) if filled else 1.0
