"""A caller whose words are a language model's. It listens, speaks, twists and waits as the scripted one does."""

from __future__ import annotations

from voice.agents.base import AgentFailed
from voice.agents.language import Server, answered
from voice.agents.mind import sentences, speakable
from voice.calls.caller import AGAIN, ScriptedCaller
from voice.scenarios.model import Scenario
from voice.speech.parts import Speech

SENTENCES = 3
"""Of one turn, at most."""
MAX_TOKENS = 80
RULES = (
    "Answer in one short sentence. Say only what you are asked for, and never more than what you know. Spell nothing "
    "out. Once your task is done, say thank you and goodbye."
)


class CallerFailed(Exception):
    """The caller's language model cannot be reached, or does not answer. No fault of the agent."""


class ModelCaller(ScriptedCaller):
    def __init__(self, scenario: Scenario, speech: Speech, server: Server) -> None:
        super().__init__(scenario, speech)
        self._server = server
        self._messages = [{"role": "system", "content": told(scenario)}]

    async def _words(self, heard: str) -> str:
        if not heard.strip():
            return AGAIN
        self._messages.append({"role": "user", "content": heard})
        words = await super()._words(heard)
        self._messages.append({"role": "assistant", "content": words})
        return words

    async def _own_words(self, heard: str) -> str:
        try:
            text = await answered(self._server, self._messages, max_tokens=MAX_TOKENS, temperature=0)
        except AgentFailed as failure:
            raise CallerFailed(f"the caller: {failure}") from failure
        return " ".join(speakable(each) for each in sentences(text)[:SENTENCES]).strip() or AGAIN


def told(scenario: Scenario) -> str:
    """What the caller is told: the card of a visitor, and nothing of the agent's side."""
    known = "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in scenario.you_know.items())
    task = f"Your task: {scenario.description} You know: {known}."
    return f"You are a customer on the telephone, not the agent. {task} {RULES}"
