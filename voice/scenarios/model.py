"""A scenario: what the caller wants and knows, what both agents are told, and by what the outcome is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voice.scenarios.slots import Choice, Slot

CATEGORIES = ("booking", "support", "info_retrieval")
DIFFICULTIES = ("easy", "medium", "hard")
TURNS, DURATION_S = 10, 120
"""The defaults of `max_turns` and `max_duration_seconds`."""


@dataclass(frozen=True)
class Result:
    """What a tool answers to arguments that have all the values of `when`."""

    when: Mapping[str, str]
    done: bool
    """Whether the tool did what was asked."""
    message: str
    """What came of it, for the agent to tell. {parameter} stands for the argument as it is spoken."""
    asks: tuple[str, ...] = ()
    """Parameters that the caller has to give anew."""


@dataclass(frozen=True)
class Tool:
    """A simulated tool. Its results are canned, and depend on the arguments alone."""

    id: str
    description: str
    cues: tuple[str, ...]
    """Words of a caller who wants it. Agents of rules go by them."""
    parameters: Mapping[str, Slot]
    results: Sequence[Result]
    """The first that fits is the answer; the last one fits always."""
    hands_over: bool = False
    """Whether it ends the agent's part, by passing the caller on to people."""

    def answer(self, arguments: Mapping[str, Any]) -> Result:
        """The result for these arguments, in whatever form they are given. One that is missing fits no value."""
        given = {name: slot.canonical(arguments[name]) for name, slot in self.parameters.items() if name in arguments}
        return next(result for result in self.results if all(given.get(n) == v for n, v in result.when.items()))

    def told(self, result: Result, arguments: Mapping[str, Any]) -> str:
        """Its message with the arguments in it."""
        told = result.message.format_map({name: self._spoken(name, arguments) for name in self.parameters})
        return told.replace("m..", "m.")  # a time at the end of a sentence has its own dot

    def _spoken(self, name: str, arguments: Mapping[str, Any]) -> str:
        if name not in arguments:
            return "that"
        slot = self.parameters[name]
        value = slot.canonical(arguments[name])
        return slot.spoken(value) if slot.is_canonical(value) else value


@dataclass(frozen=True)
class Criterion:
    """One part of success: `calls`, a tool that has to be called and get its `done`, or `says`, of which the agent has
    to say one phrase."""

    id: str
    calls: str = ""
    says: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expected:
    """The value of a required slot; `accept` has other spellings of the same."""

    value: str
    accept: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (self.value, *self.accept)


@dataclass(frozen=True)
class Twist:
    """What a caller does against expectation: says something after so many of its turns, in the place of its answer.
    `interrupts`: while the agent speaks."""

    after: int
    say: str
    interrupts: bool = False


@dataclass(frozen=True)
class Answer:
    """What the scripted caller says when it has heard one of these phrases. `once`: the first time alone."""

    heard: tuple[str, ...]
    say: str
    once: bool = False


@dataclass(frozen=True)
class Script:
    """The scripted caller."""

    opening: str
    answers: Sequence[Answer]
    closing: str


@dataclass(frozen=True)
class Scenario:
    """See docs/voice.md for its file."""

    id: str
    name: str
    category: str
    difficulty: str
    description: str
    """What the caller wants, told to visitors."""
    you_know: Mapping[str, str]
    """What the caller knows: its name -> the value."""
    greeting: str
    """The first words of every agent."""
    system_prompt: str
    required_slots: Mapping[str, Expected]
    success_criteria: Sequence[Criterion]
    tools: Mapping[str, Tool]
    twists: Sequence[Twist]
    caller: Script
    max_turns: int = TURNS
    max_duration_s: int = DURATION_S

    @property
    def slots(self) -> Mapping[str, Slot]:
        """The slot of each parameter of all tools; parameters of one name are the same slot."""
        return {name: slot for tool in self.tools.values() for name, slot in tool.parameters.items()}

    @property
    def expected_words(self) -> str:
        """What a caller may choose from, for a recogniser: only what every agent is told."""
        choices = [slot.options for slot in self.slots.values() if isinstance(slot, Choice)]
        return ", ".join(dict.fromkeys(option for options in choices for option in options))
