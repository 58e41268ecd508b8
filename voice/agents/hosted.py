"""What agents of hosted providers have in common: a call is made by REST, and its audio goes over a socket.

Tools and their results stand in the prompt, since a provider could only ask for them at an address of this site.
"""

from __future__ import annotations

import contextlib
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from voice.agents.base import AgentFailed, AudioChunk, Event, SessionEnd
from voice.scenarios.model import Scenario, Tool
from voice.speech.audio import SAMPLE_BYTES, is_quiet

ANSWERS_WITHIN_S = 10.0
LONGEST_MESSAGE = 1 << 20
NO_SUCH_PATH = (httpx2.codes.FORBIDDEN, httpx2.codes.NOT_FOUND, httpx2.codes.METHOD_NOT_ALLOWED, httpx2.codes.GONE)
Json = dict[str, Any]


@dataclass(frozen=True)
class Account:
    """`made_of`: the agent's `config`. `address`: of the provider's API."""

    key: str = field(repr=False)
    made_of: Mapping[str, Any]
    address: str


class Hosted(ABC):
    """One conversation with a hosted agent. An `Agent`."""

    provider = ""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._socket: ClientConnection | None = None

    @abstractmethod
    async def _call(self, scenario: Scenario) -> str:
        """Make the call; answers the address of its socket, which is a credential. Raises AgentFailed."""

    @abstractmethod
    def _told(self, message: str) -> list[Event]:
        """What a text frame says; nothing for one that is not known."""

    @abstractmethod
    def _closed(self, code: int, reason: str) -> SessionEnd:
        """What it means that the provider closed the socket."""

    async def _leave(self, socket: ClientConnection) -> None:
        """Say goodbye on the socket before it is closed, where that has a word for it."""
        return

    async def open(self, scenario: Scenario) -> None:
        if not self._account.key:
            raise AgentFailed(f"no key of {self.provider} is set")
        url = await self._call(scenario)
        try:
            self._socket = await connect(url, open_timeout=ANSWERS_WITHIN_S, max_size=LONGEST_MESSAGE, proxy=None)
        except (OSError, TimeoutError, WebSocketException) as error:
            raise self._failed(f"'s socket: {type(error).__name__}: {error}") from error

    async def hear(self, audio: bytes) -> None:
        await self._send(audio)

    async def _send(self, message: bytes | str) -> None:
        if self._socket is not None:
            with contextlib.suppress(ConnectionClosed):  # `events` tells of the end
                await self._socket.send(message)

    async def events(self) -> AsyncIterator[Event]:
        if self._socket is None:
            raise AgentFailed("the call is not open")
        socket = self._socket
        with contextlib.suppress(ConnectionClosed):
            async for message in socket:
                for event in self._read(message):
                    yield event
                    if isinstance(event, SessionEnd):
                        return
        yield self._closed(socket.close_code or 1006, socket.close_reason or "")

    def _read(self, message: str | bytes) -> list[Event]:
        """Silence between utterances is not passed on."""
        if isinstance(message, str):
            return self._told(message)
        whole = message[: len(message) // SAMPLE_BYTES * SAMPLE_BYTES]
        return [] if is_quiet(whole) else [AudioChunk(whole)]

    async def close(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            with contextlib.suppress(ConnectionClosed):
                await self._leave(socket)
            await socket.close()

    # REST.

    async def _post(self, path: str, body: Json, where_unknown: str = "") -> Json:
        """Make something at the provider. Raises AgentFailed unless it is made; `where_unknown` says why there may be
        no such path."""
        answer = await self._ask("POST", path, body)
        if answer.status_code != httpx2.codes.CREATED:
            hint = where_unknown if answer.status_code in NO_SUCH_PATH else ""
            raise self._failed(f" answers {answer.status_code}, expected 201{hint}: {answer.text}")
        return as_object(answer.text)

    async def _ask(self, method: str, path: str, body: Json | None = None) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self._account.key}"}
        try:
            async with httpx2.AsyncClient(trust_env=False, timeout=ANSWERS_WITHIN_S) as client:
                return await client.request(method, f"{self._account.address}{path}", json=body, headers=headers)
        except httpx2.HTTPError as error:
            raise self._failed(f" cannot be reached: {type(error).__name__}: {error}") from error

    def _failed(self, words: str) -> AgentFailed:
        return AgentFailed(f"{self.provider}{words}"[:300])


def as_object(text: str) -> Json:
    """The JSON object in a text; an empty one for anything else."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


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
