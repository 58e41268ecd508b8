"""A streamed answer arrives piece by piece, through all middleware, compressed or not; what it holds is given back."""

from __future__ import annotations

import asyncio
import gzip
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from channels.testing import ApplicationCommunicator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.test import override_settings
from django.urls import path

from vlaarena.body_limit import BodyLimit
from vlaarena.handler import OneThreadHandler

PIECES = [secrets.token_bytes(200_000) for _ in range(3)]
"""Random and large, so that compression has to let go of something at each of them."""


class Source:
    """Yields each piece only when the client has got something of the one before."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(1)
        self.threads: set[str] = set()
        self.closed = threading.Event()

    def pieces(self) -> Iterator[bytes]:
        for piece in PIECES:
            assert self.go.acquire(timeout=20)
            self.threads.add(threading.current_thread().name)
            yield piece

    async def pieces_async(self) -> AsyncIterator[bytes]:
        for piece in PIECES:
            while not self.go.acquire(blocking=False):
                await asyncio.sleep(0.01)
            yield piece

    def answer(self, pieces: Callable[[], Any]) -> Callable[[HttpRequest], StreamingHttpResponse]:
        def view(request: HttpRequest) -> StreamingHttpResponse:
            response = StreamingHttpResponse(pieces(), content_type="application/octet-stream")
            response._resource_closers.append(self.closed.set)  # type: ignore[attr-defined]
            return response

        return view


source = Source()
urlpatterns = [
    path("sync", lambda request: source.answer(source.pieces)(request)),
    path("plain", lambda request: HttpResponse("done")),
    path("async", lambda request: source.answer(source.pieces_async)(request)),
]


@pytest.fixture(autouse=True)
def _own_addresses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("tests.system.test_streams.source", Source())
    with override_settings(ROOT_URLCONF="tests.system.test_streams"):
        yield


def asked(address: str, *headers: tuple[bytes, bytes], app: Any = None) -> ApplicationCommunicator:
    named = [(b"host", b"testserver"), *headers]
    scope = {"type": "http", "method": "GET", "path": address, "headers": named, "query_string": b""}
    return ApplicationCommunicator(app or BodyLimit(OneThreadHandler()), scope)


async def told(client: ApplicationCommunicator) -> tuple[dict[bytes, bytes], list[bytes]]:
    """Headers and the body's parts; the next piece is let go once something of the one before has come."""
    await client.send_input({"type": "http.request", "body": b"", "more_body": False})
    start = await client.receive_output(10)
    parts: list[bytes] = []
    let_go = 1
    while True:
        message = await client.receive_output(10)
        if not message.get("more_body"):
            break
        parts.append(message["body"])
        if sum(map(len, parts)) > 150_000 * let_go:
            let_go += 1
            source.go.release()
    await client.wait(10)
    return dict(start["headers"]), parts


@pytest.mark.parametrize("address", ["/sync", "/async"])
@pytest.mark.parametrize("accepted", [b"identity", b"gzip"])
def test_each_piece_arrives_before_the_next_is_made(address: str, accepted: bytes) -> None:
    headers, parts = asyncio.run(told_at(address, accepted))
    body = b"".join(parts)
    assert (headers.get(b"Content-Encoding") == b"gzip") == (accepted == b"gzip")
    assert (gzip.decompress(body) if accepted == b"gzip" else body) == b"".join(PIECES)
    assert source.closed.wait(10)
    assert len(source.threads) == (address == "/sync"), "a connection to the database belongs to one thread"


async def told_at(address: str, accepted: bytes) -> tuple[dict[bytes, bytes], list[bytes]]:
    return await told(asked(address, (b"accept-encoding", accepted)))


@pytest.mark.parametrize("address", ["/sync", "/async"])
def test_a_stream_whose_client_goes_away_gives_back_what_it_holds(address: str) -> None:
    async def leave() -> None:
        client = asked(address)
        await client.send_input({"type": "http.request", "body": b"", "more_body": False})
        await client.receive_output(10)
        await client.receive_output(10)
        client.future.cancel()
        source.go.release(5)
        with pytest.raises(asyncio.CancelledError):
            await client.future

    asyncio.run(leave())
    assert source.closed.wait(10)


def test_streams_take_no_thread_from_other_requests(settings: Any) -> None:
    settings.WEB_THREADS = 1
    source.go.acquire()

    async def both() -> None:
        app = BodyLimit(OneThreadHandler())
        stream, other = asked("/sync", app=app), asked("/plain", app=app)
        for client in (stream, other):
            await client.send_input({"type": "http.request", "body": b"", "more_body": False})
            assert (await client.receive_output(10))["status"] == 200
        source.go.release(5)
        await asyncio.gather(stream.wait(10), other.wait(10))

    asyncio.run(both())
