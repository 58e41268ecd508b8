"""A dialogue manager of rules: fills the parameters of the scenario's tools, and calls them. No language model.

It knows what every agent is told (the greeting, the tools and their parameters), and neither the required slots nor the
criteria. The caller's words choose tools by their cues; values are read by the rules of each slot
(`voice.scenarios.slots`); the first parameter without a value is asked for; a tool with all its parameters is called,
and its message said.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from voice.agents.mind import ToolDesk, sentences
from voice.scenarios.model import Scenario, Tool
from voice.scenarios.slots import has_phrase

GOODBYES = (
    "goodbye",
    "bye",
    "that is all",
    "thats all",
    "nothing else",
    "that is everything",
    "no thank you",
    "no thanks",
)
ASKED_AT_MOST = 3
"""Times in a row that one parameter is asked for."""
ELSE = "Is there anything else I can help you with?"
FAREWELL = "Thank you for calling. Goodbye."
GIVES_UP = "I am sorry, I cannot help you with that. Goodbye."
NOT_UNDERSTOOD = "I am sorry, I did not understand that. Could you say it again?"


class Rules:
    """One conversation. A `Mind`."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._values: dict[str, str] = {}
        self._wanted: list[str] = []
        """Tools that the caller wants, the one in work first."""
        self._done: set[str] = set()
        self._asked: str | None = None
        self._times_asked = 0
        self.finished = False

    def greet(self) -> str:
        return self._scenario.greeting

    def spoken(self, text: str) -> None:
        """An answer that was cut off changes nothing: what it asked for is asked again."""
        return

    async def reply(self, said: str, desk: ToolDesk) -> AsyncGenerator[str, None]:
        for sentence in sentences(self._answer(said, desk)):
            yield sentence

    def _answer(self, said: str, desk: ToolDesk) -> str:
        learned = self._learn(said)
        self._want(said)
        if not self._wanted:
            if any(has_phrase(said, phrase) for phrase in GOODBYES):
                self.finished = True
                return FAREWELL
            if self._done and learned:  # a value is changed afterwards
                self._wanted = [tool.id for tool in self._scenario.tools.values() if learned & set(tool.parameters)][:1]
        if not self._wanted:
            return NOT_UNDERSTOOD if not self._done else ELSE
        return self._work(desk, "")

    def _learn(self, said: str) -> set[str]:
        """Take the values out of the caller's words. Answers the names of those that changed."""
        before = dict(self._values)
        for name, slot in self._scenario.slots.items():
            found = slot.answers(said) if name == self._asked else slot.mentions(said)
            if found:
                self._values[name] = found[-1]
        return {name for name, value in self._values.items() if before.get(name) != value}

    def _want(self, said: str) -> None:
        """Add the tools whose cues were said; without any, the only one there is."""
        cued = [tool for tool in self._scenario.tools.values() if self._is_cued(tool, said)]
        handing = [tool.id for tool in cued if tool.hands_over]
        fresh = [tool.id for tool in cued if tool.id not in (*self._done, *self._wanted) and not tool.hands_over]
        self._wanted = [*handing, *self._wanted, *fresh]
        if not self._wanted and not self._done and len(self._scenario.tools) == 1:
            self._wanted = list(self._scenario.tools)

    @staticmethod
    def _is_cued(tool: Tool, said: str) -> bool:
        return any(has_phrase(said, cue) for cue in tool.cues)

    def _work(self, desk: ToolDesk, told: str) -> str:
        """Go on with the tool in work: ask, or call it and go on with the next."""
        tool = self._scenario.tools[self._wanted[0]]
        missing = next((name for name in tool.parameters if name not in self._values), None)
        if missing is not None:
            return f"{told} {self._ask(missing)}".strip()
        result, message = desk.call(tool.id, {name: self._values[name] for name in tool.parameters})
        told = f"{told} {message}".strip()
        if not result.done:
            return self._again(told, result.asks)
        self._wanted.pop(0)
        self._done.add(tool.id)
        self._asked, self._times_asked = None, 0
        if tool.hands_over:
            self.finished = True
            return told
        return self._work(desk, told) if self._wanted else f"{told} {ELSE}"

    def _ask(self, name: str) -> str:
        if not self._may_ask(name):
            return self._give_up()
        return f"Could you tell me {self._scenario.slots[name].description}, please?"

    def _again(self, told: str, asks: tuple[str, ...]) -> str:
        """The tool refused: forget what has to be given anew. The message asks for it."""
        for name in asks:
            self._values.pop(name, None)
        if asks and not self._may_ask(asks[0]):
            return self._give_up()
        if not asks:
            self._wanted.pop(0)
        return told

    def _may_ask(self, name: str) -> bool:
        self._times_asked = self._times_asked + 1 if name == self._asked else 1
        self._asked = name
        return self._times_asked <= ASKED_AT_MOST

    def _give_up(self) -> str:
        self.finished = True
        return GIVES_UP
