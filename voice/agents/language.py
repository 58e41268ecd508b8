"""A language model as the mind of a cascade: any server that speaks OpenAI's chat completions, named in the settings.

The arena's own language servers are such servers. Voice knows them by their address alone, since kinds do not import
each other.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
import openai

from voice.agents.base import AgentFailed
from voice.agents.mind import ToolDesk, sentences, speakable
from voice.scenarios.model import Scenario, Tool
from voice.scenarios.slots import Choice, Slot

CONNECT_S, READ_S = 3.0, 20.0
LONGEST = 600
"""Characters of one answer: small models do not stop by themselves."""
ROUNDS = 4
"""Of calls of tools before an answer."""
KEPT = 12
"""Messages of the conversation that are sent again, beside the first ones."""
STYLE = "You are on the telephone. Answer in one or two short sentences, in plain words, without lists."
END_CALL = "end_call"
logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would log every request


@dataclass(frozen=True)
class Server:
    """`address`: of its API, such as http://127.0.0.1:8000/v1; a password in it is the key. `tools`: whether the model
    can call functions; without, it can talk, and do nothing."""

    address: str
    model: str
    key: str = ""
    tools: bool = True
    extra: dict[str, Any] = field(default_factory=dict)
    max_tokens: int = 120


class LanguageModel:
    """One conversation. A `Mind`."""

    def __init__(self, scenario: Scenario, server: Server) -> None:
        self._scenario, self._server = scenario, server
        self._client = open_client(server)
        self._messages: list[dict[str, Any]] = [{"role": "assistant", "content": scenario.greeting}]
        self.finished = False

    def greet(self) -> str:
        return self._scenario.greeting

    def spoken(self, text: str) -> None:
        self._messages.append({"role": "assistant", "content": text or "..."})

    async def reply(self, said: str, desk: ToolDesk) -> AsyncGenerator[str, None]:
        self._messages.append({"role": "user", "content": said})
        for _ in range(ROUNDS):
            calls: list[dict[str, str]] = []
            async for sentence in self._sentences(calls):
                yield sentence
            if not calls:
                return
            self._run(calls, desk)
        raise AgentFailed(f"the model called tools {ROUNDS} times without an answer")

    async def _sentences(self, calls: list[dict[str, str]]) -> AsyncIterator[str]:
        """One answer of the server, sentence by sentence. Calls of tools are added to `calls`."""
        text, given = "", 0
        async for delta in self._deltas():
            _collect(calls, getattr(delta, "tool_calls", None))
            text = (text + (getattr(delta, "content", None) or ""))[:LONGEST]
            whole = sentences(text)[:-1]
            for sentence in whole[given:]:
                if told := speakable(sentence):
                    yield told
            given = max(given, len(whole))
            if len(text) >= LONGEST:
                break
        for sentence in sentences(text)[given:]:
            if told := speakable(sentence):
                yield told

    async def _deltas(self) -> AsyncIterator[Any]:
        try:
            stream = await self._client.chat.completions.create(**self._request())
            async with stream:
                async for chunk in stream:
                    for choice in getattr(chunk, "choices", None) or []:
                        if getattr(choice, "delta", None) is not None:
                            yield choice.delta
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, TypeError, AttributeError) as error:
            raise AgentFailed(f"the language model: {type(error).__name__}: {error}"[:300]) from error

    def _request(self) -> dict[str, Any]:
        scenario, server = self._scenario, self._server
        functions = [*map(_function, scenario.tools.values()), _END] if server.tools else None
        return {
            "model": server.model,
            "messages": [{"role": "system", "content": f"{scenario.system_prompt} {STYLE}"}, *_recent(self._messages)],
            "max_tokens": server.max_tokens,
            "stream": True,
            **({"tools": functions} if functions else {}),
            **({"extra_body": server.extra} if server.extra else {}),
        }

    def _run(self, calls: list[dict[str, str]], desk: ToolDesk) -> None:
        """Answer the calls, and write both into the conversation."""
        asked = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
            for call in calls
        ]
        self._messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        for call in calls:
            self._messages.append({"role": "tool", "tool_call_id": call["id"], "content": self._result(call, desk)})

    def _result(self, call: dict[str, str], desk: ToolDesk) -> str:
        if call["name"] == END_CALL:
            self.finished = True
            return "Say goodbye."
        try:
            arguments = json.loads(call["arguments"] or "{}")
        except ValueError:
            return "The arguments are no JSON object."
        if call["name"] not in self._scenario.tools or not isinstance(arguments, dict):
            return f"There is no such tool; there are {', '.join(self._scenario.tools)}, with a JSON object each."
        result, message = desk.call(call["name"], arguments)
        return json.dumps({"done": result.done, "message": message})

    async def close(self) -> None:
        await self._client.close()


def _recent(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last messages. They do not begin with the answer of a tool whose call is left out."""
    recent = messages[-KEPT:]
    while recent and recent[0]["role"] == "tool":
        recent = recent[1:]
    return recent


def _collect(calls: list[dict[str, str]], deltas: Any) -> None:
    """Calls come in pieces, each with the index of its call."""
    for delta in deltas or []:
        while len(calls) <= delta.index:
            calls.append({"id": f"call_{len(calls)}", "name": "", "arguments": ""})
        call, function = calls[delta.index], delta.function
        call["id"] = delta.id or call["id"]
        if function is not None:
            call["name"] += function.name or ""
            call["arguments"] += function.arguments or ""


def _function(tool: Tool) -> dict[str, Any]:
    """A tool as OpenAI's functions describe it."""
    schema = {name: _schema(slot) for name, slot in tool.parameters.items()}
    parameters = {"type": "object", "properties": schema, "required": list(schema)}
    return {
        "type": "function",
        "function": {"name": tool.id, "description": tool.description, "parameters": parameters},
    }


def _schema(slot: Slot) -> dict[str, Any]:
    about = {"type": "string", "description": f"{slot.description}: {slot.form}"}
    return {**about, "enum": list(slot.options)} if isinstance(slot, Choice) else about


_END = {
    "type": "function",
    "function": {
        "name": END_CALL,
        "description": "Ends the call, once the caller has said goodbye.",
        "parameters": {"type": "object", "properties": {}},
    },
}


async def answered(server: Server, messages: Sequence[Mapping[str, str]], **options: Any) -> str:
    """One whole answer to these messages. Raises AgentFailed."""
    client, text = open_client(server), ""
    try:
        stream = await client.chat.completions.create(
            model=server.model, messages=cast(Any, messages), stream=True, **options
        )
        async with stream:
            async for chunk in stream:
                text += "".join(choice.delta.content or "" for choice in chunk.choices)
    except (openai.OpenAIError, httpx2.HTTPError) as error:
        raise AgentFailed(f"the language model: {type(error).__name__}: {error}"[:300]) from error
    finally:
        await client.close()
    return text


def open_client(server: Server) -> openai.AsyncOpenAI:
    """Proxies of the environment are not used, redirects not followed, and nothing is tried again: the caller waits."""
    parts = urlsplit(server.address)
    if not parts.hostname:
        raise AgentFailed("no language model is set: ARENA_VOICE_MODEL_URL, such as http://127.0.0.1:8000/v1")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    address = f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}{parts.path}"
    timeout = httpx2.Timeout(READ_S, connect=CONNECT_S)
    http = httpx2.AsyncClient(follow_redirects=False, trust_env=False, timeout=timeout)
    return openai.AsyncOpenAI(
        base_url=address,
        api_key=server.key or parts.password or "none",
        http_client=http,
        max_retries=0,
        timeout=timeout,
    )


async def reachable(server: Server) -> None:
    """Raises AgentFailed unless the server lists its models in time."""
    client = open_client(server)
    try:
        async with asyncio.timeout(CONNECT_S):
            names = [model.id async for model in await client.models.list()]
    except (openai.OpenAIError, httpx2.HTTPError, TimeoutError) as error:
        raise AgentFailed(f"the language model cannot be reached: {type(error).__name__}: {error}"[:300]) from error
    finally:
        await client.close()
    if server.model not in names:
        raise AgentFailed(f"the server has no model {server.model!r}; it has {', '.join(names) or 'none'}")
