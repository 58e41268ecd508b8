"""Vapi's agents by its documented websocket transport: a call is made by REST, and its audio goes over a socket.

Tried against a fake that speaks the documented wire, never against Vapi itself. Limits: the documentation does not say
which messages come over the transport, so unknown ones are ignored; results of tools are not sent over it, so a call of
a tool is noted where the transport tells of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection

from voice.agents.base import Event, Interrupted, SessionEnd, TranscriptUpdate
from voice.agents.hosted import Account, Hosted, Json, as_object, prompt_of
from voice.agents.mind import ToolDesk
from voice.evaluation.transcript import Role
from voice.scenarios.model import Scenario
from voice.speech.audio import RATE

ADDRESS = "https://api.vapi.ai"
ROLES = {"assistant": Role.AGENT, "user": Role.CALLER}
HUNG_UP = ("customer-ended", "assistant-ended", "assistant-said-end", "hangup")
"""Beginnings and parts of an `endedReason` that is no failure."""


class Vapi(Hosted):
    """`config`: what the request has beside the scenario's words: `model`, `voice` and `transcriber`."""

    provider = "Vapi"

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self._noted: asyncio.Queue[Event] = asyncio.Queue()

    async def _call(self, scenario: Scenario) -> str:
        self._desk = ToolDesk(scenario, self._noted.put_nowait)
        answer = await self._post("/call", request_body(scenario, self._account.made_of))
        match answer:
            case {"transport": {"websocketCallUrl": str(url)}}:
                return url
        raise self._failed("'s answer has no transport.websocketCallUrl")

    def _told(self, message: str) -> list[Event]:
        """`hang` is a notice of delay, not an end."""
        told = as_object(message)
        match told:
            case {"type": "transcript", "role": str(role), "transcript": str(text)} if role in ROLES:
                final = told.get("transcriptType") == "final"
                return [TranscriptUpdate(ROLES[role], text, True)] if final else []
            case {"type": "user-interrupted"}:
                return [Interrupted()]
            case {"type": "tool-calls", "toolCallList": list(calls)}:
                return self._used(calls)
            case {"type": "status-update", "status": "ended"}:
                reason = str(told.get("endedReason", ""))
                hung_up = any(part in reason for part in HUNG_UP)
                return [SessionEnd("agent_hung_up" if hung_up else "agent_failed", reason)]
        return []

    def _used(self, calls: list[Any]) -> list[Event]:
        for call in calls:
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                continue
            arguments = function.get("arguments")
            arguments = as_object(arguments) if isinstance(arguments, str) else arguments
            with contextlib.suppress(KeyError):  # a tool that the scenario does not have
                self._desk.call(str(function.get("name")), arguments if isinstance(arguments, dict) else {})
        return [self._noted.get_nowait() for _ in range(self._noted.qsize())]

    def _closed(self, code: int, reason: str) -> SessionEnd:
        return SessionEnd("agent_failed", f"Vapi's socket was closed without an end of the call: {code} {reason}")

    async def _leave(self, socket: ClientConnection) -> None:
        await socket.send(json.dumps({"type": "end-call"}))


def request_body(scenario: Scenario, assistant: Mapping[str, Any]) -> Json:
    """The body of POST /call: a transient assistant with the scenario's words, and audio as the arena has it."""
    model = {**assistant["model"], "messages": [{"role": "system", "content": prompt_of(scenario)}]}
    return {
        "assistant": {**assistant, "firstMessage": scenario.greeting, "model": model},
        "transport": {
            "provider": "vapi.websocket",
            "audioFormat": {"format": "pcm_s16le", "container": "raw", "sampleRate": RATE},
        },
    }
