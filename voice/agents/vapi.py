"""Vapi's agents by its documented websocket transport: a call is made by REST, and its audio goes over a socket.

Tried against a fake that speaks the documented wire, never against Vapi itself. Limits: the documentation does not say
which messages come over the transport, so unknown ones are ignored; results of tools are not sent over it, so tools and
their results stand in the prompt, and a call of a tool is noted where the transport tells of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from voice.agents.base import AgentFailed, AudioChunk, Event, Interrupted, SessionEnd, TranscriptUpdate
from voice.agents.mind import ToolDesk
from voice.evaluation.transcript import Role
from voice.scenarios.model import Scenario, Tool
from voice.speech.audio import RATE, SAMPLE_BYTES

ADDRESS = "https://api.vapi.ai"
ANSWERS_WITHIN_S = 10.0
ROLES = {"assistant": Role.AGENT, "user": Role.CALLER}
HUNG_UP = ("customer-ended", "assistant-ended", "assistant-said-end", "hangup")
"""Beginnings and parts of an `endedReason` that is no failure."""


@dataclass(frozen=True)
class Account:
    """`assistant`: what the request has beside the scenario's words: its `model`, `voice` and `transcriber`."""

    key: str = field(repr=False)
    assistant: Mapping[str, Any]
    address: str = ADDRESS


class Vapi:
    """One conversation with an agent of Vapi. An `Agent`."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._socket: ClientConnection | None = None
        self._noted: asyncio.Queue[Event] = asyncio.Queue()

    async def open(self, scenario: Scenario) -> None:
        if not self._account.key:
            raise AgentFailed("no key of Vapi is set")
        self._desk = ToolDesk(scenario, self._noted.put_nowait)
        url = await self._call(scenario)
        try:
            self._socket = await connect(url, open_timeout=ANSWERS_WITHIN_S, max_size=1 << 20, proxy=None)
        except (OSError, TimeoutError, WebSocketException) as error:
            raise AgentFailed(f"Vapi's socket: {type(error).__name__}: {error}"[:300]) from error

    async def _call(self, scenario: Scenario) -> str:
        """Make the call; answers the address of its socket, which is a credential."""
        headers = {"Authorization": f"Bearer {self._account.key}"}
        body = request_body(scenario, self._account.assistant)
        try:
            async with httpx2.AsyncClient(trust_env=False, timeout=ANSWERS_WITHIN_S) as client:
                answer = await client.post(f"{self._account.address}/call", json=body, headers=headers)
        except httpx2.HTTPError as error:
            raise AgentFailed(f"Vapi cannot be reached: {type(error).__name__}: {error}"[:300]) from error
        if answer.status_code != httpx2.codes.CREATED:
            raise AgentFailed(f"Vapi answers {answer.status_code}, expected 201: {answer.text[:200]}")
        try:
            return str(answer.json()["transport"]["websocketCallUrl"])
        except (ValueError, KeyError, TypeError):
            raise AgentFailed("Vapi's answer has no transport.websocketCallUrl") from None

    async def hear(self, audio: bytes) -> None:
        if self._socket is not None:
            with contextlib.suppress(ConnectionClosed):  # `events` tells of the end
                await self._socket.send(audio)

    async def events(self) -> AsyncIterator[Event]:
        if self._socket is None:
            raise AgentFailed("the call is not open")
        try:
            async for message in self._socket:
                for event in self._read(message):
                    yield event
                    if isinstance(event, SessionEnd):
                        return
        except ConnectionClosed as closed:
            yield SessionEnd("agent_failed", f"Vapi's socket was closed: {closed}"[:300])
            return
        yield SessionEnd("agent_failed", "Vapi's socket was closed without a reason")

    def _read(self, message: str | bytes) -> list[Event]:
        if isinstance(message, bytes):
            whole = message[: len(message) // SAMPLE_BYTES * SAMPLE_BYTES]
            return [AudioChunk(whole)] if whole.strip(b"\0") else []  # silence between utterances is not passed on
        try:
            told = json.loads(message)
        except ValueError:
            return []
        return self._told(told) if isinstance(told, dict) else []

    def _told(self, told: Mapping[str, Any]) -> list[Event]:
        """`hang` is a notice of delay, not an end."""
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
            with contextlib.suppress(ValueError):
                arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
            with contextlib.suppress(KeyError):  # a tool that the scenario does not have
                self._desk.call(str(function.get("name")), arguments if isinstance(arguments, dict) else {})
        return [self._noted.get_nowait() for _ in range(self._noted.qsize())]

    async def close(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            with contextlib.suppress(ConnectionClosed):
                await socket.send(json.dumps({"type": "end-call"}))
            await socket.close()


def request_body(scenario: Scenario, assistant: Mapping[str, Any]) -> dict[str, Any]:
    """The body of POST /call: a transient assistant with the scenario's words, and audio as the arena has it."""
    model = {**assistant["model"], "messages": [{"role": "system", "content": prompt_of(scenario)}]}
    return {
        "assistant": {**assistant, "firstMessage": scenario.greeting, "model": model},
        "transport": {
            "provider": "vapi.websocket",
            "audioFormat": {"format": "pcm_s16le", "container": "raw", "sampleRate": RATE},
        },
    }


def prompt_of(scenario: Scenario) -> str:
    """What every agent is told, with the tools and their results in words."""
    return "\n".join(
        [scenario.system_prompt, "Act as if you had these tools:", *map(_described, scenario.tools.values())]
    )


def _described(tool: Tool) -> str:
    results = [
        f"{', '.join(f'{name}={value}' for name, value in result.when.items()) or 'otherwise'}: {result.message}"
        for result in tool.results
    ]
    needs = ", ".join(f"{name} ({slot.description})" for name, slot in tool.parameters.items())
    return f"- {tool.id}: {tool.description} It needs {needs or 'nothing'}. Results: {'; '.join(results)}"
