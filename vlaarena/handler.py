"""An ASGI handler for HTTP that answers each request in one thread of a fixed pool.

Views and middleware are synchronous. Django's own handler creates a thread per request and switches between it and the
event loop at least three times, which takes a fifth of a request's processor time (decision: web-process). This handler
switches once. The size of the pool limits concurrent requests, so that they need no more connections than the
database's pool has. Further requests wait in the order of their arrival.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from typing import IO, Any

import django
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.http.response import FileResponse, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix

from arena.api.long_poll import AT_ONCE, DISCONNECTED
from vlaarena.body_limit import Receive, Scope, Send

WAITING_PATH = "/api/arena/battle"
"""A call that waits without being asked to."""


class OneThreadHandler(ASGIHandler):
    """Requests that prefer to wait have a second pool. If it is full, they are answered at once.

    A waiting request leaves its thread soon after its client has gone.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPoolExecutor(settings.WEB_THREADS, "request")
        self._free_places = max(1, settings.WEB_THREADS // 3)  # so many requests may wait at once
        self._waiting_threads = ThreadPoolExecutor(self._free_places, "request-waits")

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"expected a scope of HTTP, got {scope['type']}")
        await self.handle(scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        if not _asks_to_wait(scope):
            response = await self._in_thread(scope, body)
        elif self._free_places:
            response = await self._kept_waiting(scope, receive, body)
        else:
            response = await self._in_thread(_without_wait(scope), body)
        if isinstance(response, StreamingHttpResponse):
            await self._stream(response, send)
        else:
            await self.send_response(response, send)

    async def _stream(self, response: StreamingHttpResponse, send: Send) -> None:
        """Send each piece when it is ready. A synchronous stream keeps one thread until its end, since a database
        connection belongs to its thread."""
        thread, content = ThreadPoolExecutor(1, "request-streams"), response.streaming_content
        if isinstance(content, Iterator):
            response.streaming_content = _pieces(content, thread)
        try:
            await self.send_response(response, send)
        finally:
            thread.submit(response.close)
            thread.shutdown(wait=False)

    async def _in_thread(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        return await asyncio.wrap_future(self._threads.submit(self._answer, scope, body))

    async def _kept_waiting(self, scope: Scope, receive: Receive, body: IO[bytes]) -> HttpResponseBase:
        """Answer in a thread of the second pool. An event in the request's scope is set when the client goes away."""
        gone, loop = threading.Event(), asyncio.get_running_loop()
        self._free_places -= 1
        done = self._waiting_threads.submit(self._answer, {**scope, DISCONNECTED: gone}, body)
        done.add_done_callback(partial(self._free_place, loop))
        watching = asyncio.create_task(_watch(receive, gone))
        try:
            return await asyncio.wrap_future(done)
        finally:
            gone.set()
            watching.cancel()

    def _free_place(self, loop: asyncio.AbstractEventLoop, done: Future[HttpResponseBase]) -> None:
        def free() -> None:
            self._free_places += 1

        with suppress(RuntimeError):  # the loop has ended, and the process with it
            loop.call_soon_threadsafe(free)

    def _answer(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """The response, already closed unless it is a stream."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)  # one of them is None
        response: Any = refusal if request is None else self.get_response(request)
        response._handler_class = self.__class__  # the sender of the signal request_finished
        body.close()
        if isinstance(response, StreamingHttpResponse) and not isinstance(response, FileResponse):
            return response
        with closing(response):
            whole: HttpResponseBase = _whole(response) if isinstance(response, FileResponse) else response
            return whole


def _whole(response: FileResponse) -> HttpResponse:
    """The file in one piece: the largest has some MB, and each piece would cost a switch of threads."""
    whole = HttpResponse(b"".join(response), status=response.status_code)
    whole.headers, whole.cookies = response.headers, response.cookies
    return whole


async def _pieces(content: Iterator[bytes], thread: Executor) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    while (piece := await loop.run_in_executor(thread, next, content, None)) is not None:
        yield piece


async def _watch(receive: Receive, gone: threading.Event) -> None:
    """Set the event when the client goes away. The body has been read already."""
    message = await receive()
    if message["type"] == "http.disconnect":
        gone.set()


def _asks_to_wait(scope: Scope) -> bool:
    """Whether the header `Prefer` (RFC 7240) has `wait`, or the call waits by itself."""
    if scope["path"].rstrip("/") == WAITING_PATH and scope["method"] == "POST":
        return True
    return any(name == b"prefer" and b"wait" in value for name, value in scope["headers"])


def _without_wait(scope: Scope) -> Scope:
    """The scope of the same request, to be answered at once."""
    return {**scope, AT_ONCE: True, "headers": [header for header in scope["headers"] if header[0] != b"prefer"]}


def get_asgi_application() -> OneThreadHandler:
    """Set Django up, and return the HTTP application."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
