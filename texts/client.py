"""Speaking with OpenAI-compatible servers. Whatever a server does, the caller sees words, or a ServerFailed."""

from __future__ import annotations

import logging
import os
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Self, TypeGuard
from urllib.parse import urlsplit

import httpx2
import openai
from django.conf import settings

from arena.shapes import FailureReason
from texts.addresses import BESIDE, AddressRefused, check_address
from texts.models import LanguageModel

CONNECT_S, READ_S = 3.0, 30.0
PROBE_S, JUDGE_S = 3.0, 5.0
MOST_BYTES = 4_000_000
"""Of one response. An answer as long as it may be has some hundred bytes around each of its tokens."""
STORY_LENGTH = 300
KEPT_CONTROLS = {"\n", "\t"}
TURNING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the writing direction, also of what follows an answer."""

logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would log every request

Message = dict[str, str]
Json = dict[str, Any]
_clients: dict[tuple[str, str, int], openai.OpenAI] = {}
"""By address, key and process: connections do not survive a fork."""
_lock = Lock()
_asked_by: ContextVar[Callable[[], bool]] = ContextVar("asked_by")
"""Whether the request that this thread makes is still wanted."""


class ServerFailed(Exception):
    """A server did not answer as it should. `reason`: for visitors. The text is for operators and may name it."""

    def __init__(self, story: str, reason: FailureReason = "policy_failed") -> None:
        super().__init__(story[:STORY_LENGTH])
        self.reason = reason


class AnswerStopped(Exception):
    """Nobody waits for the answer any more."""


class _TooMuch(Exception):
    """A response has more bytes than any answer needs."""


class _TooLong(Exception):
    """A response takes longer than any answer may."""


class AnswerStream:
    """An answer while it comes. A context manager: leaving it closes the stream, which stops the server.

    Iterating yields pieces of text. Afterwards `finish_reason`, `prompt_tokens` and `answer_tokens` are known; the
    counts are None if the server did not tell them, and `pieces` counts what came.
    """

    def __init__(
        self,
        model: LanguageModel,
        messages: Sequence[Message],
        stopped: Callable[[], bool] = lambda: False,
        silent_s: float = READ_S,
    ) -> None:
        """`stopped` is asked whenever anything comes, also where it is no word; AnswerStopped follows. A server that is
        silent for `silent_s` (at most READ_S) has failed."""
        self._model, self._messages, self._stopped = model, messages, stopped
        self._silent_s = min(silent_s, READ_S)
        self._stream: openai.Stream[Any] | None = None
        self.finish_reason = ""
        self.prompt_tokens: int | None = None
        self.answer_tokens: int | None = None
        self.pieces = 0

    def __enter__(self) -> Self:
        """Raises ServerFailed."""
        _asked_by.set(self._stopped)
        with translated():
            client = client_of(self._model).with_options(timeout=_timeout(self._silent_s))
            # Not chat.completions.create, which makes models of every delta: half of the time that reading takes.
            body = _request(self._model, self._messages)
            stream = openai.Stream[object]
            self._stream = client.post("/chat/completions", body=body, cast_to=object, stream=True, stream_cls=stream)
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def __iter__(self) -> Iterator[str]:
        """Raises ServerFailed, also where the stream ends before the answer does."""
        for chunk in filter(is_object, self._chunks()):
            if usage := chunk.get("usage"):
                self._note_usage(usage)
            for piece in self._pieces_of(chunk):
                self.pieces += 1
                yield piece
        if not self.finish_reason:
            raise ServerFailed("the stream ended before the answer did")

    def _chunks(self) -> Iterator[Any]:
        if self._stream is None:
            raise RuntimeError("the stream was not entered")
        chunks = iter(self._stream)
        while True:
            with translated():
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk

    def _pieces_of(self, chunk: Json) -> Iterator[str]:
        """The words in a chunk. Many have none: the first has the role alone, the last the counts."""
        choices = chunk.get("choices")
        for choice in filter(is_object, choices if isinstance(choices, list) else ()):
            reason, delta = choice.get("finish_reason"), choice.get("delta")
            if isinstance(reason, str) and reason:
                self.finish_reason = reason[:50]
            content = delta.get("content") if is_object(delta) else None
            if isinstance(content, str) and (text := cleaned(content)):
                yield text

    def _note_usage(self, usage: Any) -> None:
        for name, told in (("prompt_tokens", "prompt_tokens"), ("answer_tokens", "completion_tokens")):
            count = usage.get(told) if is_object(usage) else None
            if isinstance(count, int) and not isinstance(count, bool) and 0 <= count < 2**31:
                setattr(self, name, count)


def is_object(told: Any) -> TypeGuard[Json]:
    """Whether a server told an object of JSON: it may tell anything."""
    return isinstance(told, dict)


def served_names(model: LanguageModel) -> list[str]:
    """The models that the server lists, quickly. Raises ServerFailed."""
    _asked_by.set(lambda: False)
    with translated():
        listed = client_of(model).with_options(timeout=PROBE_S).models.list()
        return [str(each.id) for each in listed.data]


def judged(server: LanguageModel, text: str) -> bool:
    """Whether a moderation endpoint flags the text. Raises ServerFailed."""
    _asked_by.set(lambda: False)
    with translated():
        told = client_of(server).with_options(timeout=JUDGE_S).moderations.create(input=text, model=server.served_name)
        flags = [each.flagged for each in told.results]
    if not flags or not all(isinstance(flag, bool) for flag in flags):
        raise ServerFailed("the moderation endpoint tells no judgement")
    return any(flags)


def cleaned(text: str) -> str:
    """Without control characters but line ends and tabs, and without halves of characters."""
    if text.isascii() and text.isprintable():
        return text
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(character for character in whole if _is_kept(character))


def _is_kept(character: str) -> bool:
    return character in KEPT_CONTROLS or (unicodedata.category(character) != "Cc" and character not in TURNING)


def client_of(model: LanguageModel) -> openai.OpenAI:
    """The client for the model's server, one per process and server. Raises ServerFailed for an address not allowed."""
    address, key = model.base_url, os.environ.get(model.key_variable, "") if model.key_variable else ""
    if address in BESIDE:
        address, key = _embedded(address)
    if model.key_variable and not key:
        raise ServerFailed(f"{model.key_variable} is not set where the worker runs")
    with _lock:  # two threads must not make two, of which one would never be closed
        which = (address, key or "none", os.getpid())
        if which not in _clients:
            _clients[which] = _client(*which[:2])
        return _clients[which]


def close_clients() -> None:
    """Close the connections to all servers."""
    with _lock:
        while _clients:
            _clients.popitem()[1].close()


def _embedded(address: str) -> tuple[str, str]:
    """Address and key of a server beside the arena. Raises ServerFailed where it does not run."""
    parts = urlsplit(settings.TEXT[BESIDE[address]])
    if not parts.hostname:
        raise ServerFailed("no language server runs beside the arena")
    return f"http://{parts.hostname}:{parts.port}{parts.path}", parts.password or ""


def _client(address: str, key: str) -> openai.OpenAI:
    """Proxies of the environment are not used, and redirects not followed."""
    transport = _BoundedTransport(embedded=address in _embedded_addresses())
    http = httpx2.Client(transport=transport, follow_redirects=False, trust_env=False, timeout=_timeout())
    return openai.OpenAI(base_url=address, api_key=key, http_client=http, max_retries=0, timeout=_timeout())


def _embedded_addresses() -> set[str]:
    return {_embedded(name)[0] for name, setting in BESIDE.items() if settings.TEXT[setting]}


def _timeout(read_s: float = READ_S) -> httpx2.Timeout:
    return httpx2.Timeout(read_s, connect=CONNECT_S)


class _BoundedTransport(httpx2.HTTPTransport):
    """Checks every address, and bounds what a response may bring and how long it may take."""

    def __init__(self, embedded: bool) -> None:
        super().__init__(trust_env=False, limits=httpx2.Limits(max_connections=200))
        self._embedded = embedded

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if not self._embedded:
            check_address(str(request.url))
        request.headers["Accept-Encoding"] = "identity"
        response = super().handle_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":  # a few bytes could become gigabytes
            response.close()
            raise httpx2.DecodingError("the response is compressed", request=request)
        response.stream = _BoundedBody(response.stream)
        return response


class _BoundedBody(httpx2.SyncByteStream):
    def __init__(self, body: Any) -> None:
        self._body = body
        self._until = time.monotonic() + settings.TEXT["answer_s"]
        self._left = MOST_BYTES
        self._stopped = _asked_by.get(lambda: False)

    def __iter__(self) -> Iterator[bytes]:
        for part in self._body:
            self._left -= len(part)
            if self._left < 0:
                raise _TooMuch(f"the response has more than {MOST_BYTES} bytes")
            if self._stopped():
                raise AnswerStopped
            if time.monotonic() > self._until:
                raise _TooLong(f"the answer took longer than {settings.TEXT['answer_s']:g} s")
            yield part

    def close(self) -> None:
        self._body.close()


@contextmanager
def translated() -> Iterator[None]:
    """Turn whatever goes wrong between us and a server into ServerFailed."""
    try:
        yield
    except (openai.APITimeoutError, httpx2.TimeoutException, _TooLong) as error:
        raise ServerFailed(_story(error), "timeout") from error
    except openai.APIConnectionError as error:
        raise ServerFailed(_story(error.__cause__ or error)) from error
    except openai.APIStatusError as error:
        raise ServerFailed(f"status {error.status_code}: {_told(error)}") from error
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, AddressRefused, _TooMuch) as error:
        raise ServerFailed(_story(error)) from error
    except (ValueError, TypeError, AttributeError, KeyError) as error:  # the client reads what servers send unchecked
        raise ServerFailed(f"sent what is no answer: {_story(error)}") from error


def _told(error: openai.APIStatusError) -> str:
    """The server's own words, and when to come again if it says so."""
    again = error.response.headers.get("retry-after")
    return f"{error.message}{f' (Retry-After: {again})' if again else ''}"


def _story(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _request(model: LanguageModel, messages: Sequence[Message]) -> dict[str, Any]:
    sampling = {"temperature": model.temperature, "top_p": model.top_p}
    return {
        "model": model.served_name,
        "messages": list(messages),
        "max_tokens": model.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        **{name: value for name, value in sampling.items() if value is not None},
        **(model.extra_body or {}),
    }
