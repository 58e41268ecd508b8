"""Retell's agents by its documented audio socket: a call is registered by REST, and its audio goes over a socket.

Tried against a fake that speaks the documented wire, never against Retell itself. Limits: the documentation calls the
socket deprecated, and Retell may have turned it off; today's web calls are WebRTC, which this process does not speak
(decision: voice); the socket tells of no tools, so goals are read from what the agent says; a transcript comes as a
window of the last utterances.

An agent with the scenario's words is made for each call, and deleted after it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from urllib.parse import quote

from voice.agents.base import AgentFailed, Event, Interrupted, SessionEnd, TranscriptUpdate
from voice.agents.hosted import Account, Hosted, Json, as_object, prompt_of
from voice.evaluation.transcript import Role
from voice.scenarios.model import Scenario
from voice.speech.audio import RATE, SAMPLE_BYTES

ADDRESS = "https://api.retellai.com"
ROLES = {"agent": Role.AGENT, "user": Role.CALLER}
TURNS = {"agent_turn": Role.AGENT, "user_turn": Role.CALLER}
PING_BYTES = 5 * RATE * SAMPLE_BYTES
"""A `ping` goes out after so much audio, five seconds."""
NORMAL_CLOSE = 1000
REGISTERS = "/register-call"
NO_SOCKET = " (this account may have no audio socket; web calls need LiveKit, which the arena does not speak)"
FORGETS_WITHIN_S = 3.0
Utterance = tuple[Role, str]


class Retell(Hosted):
    """`config`: `llm` (`model` or `s2s_model`) and `voice_id`."""

    provider = "Retell"

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self._made: list[str] = []
        """What was made for this call, as the paths that delete it."""
        self._utterances = Utterances()
        self._heard = 0

    async def _call(self, scenario: Scenario) -> str:
        llm_id = await self._make("/create-retell-llm", llm_body(scenario, self._account.made_of["llm"]), "llm_id")
        self._made.insert(0, f"/delete-retell-llm/{quote(llm_id, safe='')}")
        agent_id = await self._make("/create-agent", agent_body(scenario, self._account.made_of, llm_id), "agent_id")
        self._made.insert(0, f"/delete-agent/{quote(agent_id, safe='')}")
        call_id = await self._make(REGISTERS, call_body(agent_id), "call_id")
        socket = self._account.address.replace("http", "ws", 1)
        return f"{socket}/audio-websocket/{quote(call_id, safe='')}?enable_update=true"

    async def _make(self, path: str, body: Json, name: str) -> str:
        made = (await self._post(path, body, NO_SOCKET if path == REGISTERS else "")).get(name)
        if not isinstance(made, str):
            raise self._failed(f"'s answer to {path} has no {name}")
        return made

    async def hear(self, audio: bytes) -> None:
        """Its clock is the audio: `ping` goes out each five seconds of it."""
        before, self._heard = self._heard, self._heard + len(audio)
        await self._send(audio)
        if before // PING_BYTES != self._heard // PING_BYTES:
            await self._send("ping")

    def _told(self, message: str) -> list[Event]:
        if message == "clear":
            return [Interrupted()]
        told = as_object(message)  # empty for `pong`
        match told:
            case {"event_type": "update", "transcript": list(window)}:
                turn = TURNS.get(str(told.get("turntaking")))
                return [TranscriptUpdate(*each, True) for each in self._utterances.update(_read(window), turn)]
        return []

    def _closed(self, code: int, reason: str) -> SessionEnd:
        hung_up = code == NORMAL_CLOSE
        return SessionEnd(
            "agent_hung_up" if hung_up else "agent_failed", f"Retell's socket was closed: {code} {reason}"
        )

    async def close(self) -> None:
        await super().close()
        made, self._made = self._made, []
        with contextlib.suppress(AgentFailed, TimeoutError):  # what is left is seen in the account, by its name
            async with asyncio.timeout(FORGETS_WITHIN_S):
                for path in made:
                    await self._ask("DELETE", path)


class Utterances:
    """Which utterances are finished, from windows of the last ones, of which each begins like the one before or some
    utterances later."""

    def __init__(self) -> None:
        self._known: list[Utterance] = []
        self._told = 0
        """How many of `_known` were told as finished."""

    def update(self, window: list[Utterance], turn: Role | None) -> list[Utterance]:
        """Those that are finished now: another one follows, or it is the other side's turn."""
        gone = self._gone(window)
        self._known, self._told = window, max(0, self._told - gone)
        last_is_done = bool(window) and turn is not None and window[-1][0] is not turn
        done = len(window) if last_is_done else len(window) - 1
        new, self._told = window[self._told : done], max(self._told, done)
        return [each for each in new if each[1].strip()]

    def _gone(self, window: list[Utterance]) -> int:
        """How many of the known utterances come before this window. The last known one may have grown since."""
        for gone in range(len(self._known)):
            kept = self._known[gone:]
            last = len(kept) - 1
            if len(window) > last and kept[:-1] == window[:last] and kept[-1][0] is window[last][0]:
                return gone
        return len(self._known)


def _read(window: list[Any]) -> list[Utterance]:
    found: list[Utterance] = []
    for each in window:
        match each:
            case {"role": str(role), "content": str(text)} if role in ROLES:
                found.append((ROLES[role], text))
    return found


def llm_body(scenario: Scenario, llm: Json) -> Json:
    """The body of POST /create-retell-llm: the scenario's words, and a way to hang up."""
    return {
        **llm,
        "start_speaker": "agent",
        "begin_message": scenario.greeting,
        "general_prompt": prompt_of(scenario),
        "general_tools": [
            {"type": "end_call", "name": "end_call", "description": "Ends the call, once the caller has said goodbye."}
        ],
    }


def agent_body(scenario: Scenario, made_of: Any, llm_id: str) -> Json:
    """The body of POST /create-agent."""
    return {
        "agent_name": f"VLA Arena: {scenario.id}",
        "voice_id": made_of["voice_id"],
        "response_engine": {"type": "retell-llm", "llm_id": llm_id},
    }


def call_body(agent_id: str) -> Json:
    """The body of POST /register-call: audio as the arena has it."""
    return {
        "agent_id": agent_id,
        "audio_websocket_protocol": "web",
        "audio_encoding": "s16le",
        "sample_rate": RATE,
    }
