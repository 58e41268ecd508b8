"""How an HTTP request is answered under ASGI: all of it in one thread, by one of a fixed number of threads.

Views and middleware are synchronous. Django's own handler makes a thread for each request and changes between it and
the event loop three times or more: a fifth of the processor time of a request (decision: web-process). This one keeps
its threads and changes to them once. As many requests are answered side by side as there are threads: more would ask
for more connections than the database's pool has. The others wait in the order in which they came.
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

from arena.api.long_poll import DISCONNECTED
from vlaarena.body_limit import Receive, Scope, Send


class OneThreadHandler(ASGIHandler):
    """A client that asks to be kept waiting gets a thread of its own while there is a place for it, and is answered at
    once where there is none. A place is free again when its thread is done, which is soon after its client has gone.
    """

    def __init__(self) -> None:
        super().__init__()
        self._threads = ThreadPoolExecutor(settings.WEB_THREADS, "request")
        self._free_places = max(1, settings.WEB_THREADS // 3)  # so many requests may wait at once
        self._patient = ThreadPoolExecutor(self._free_places, "request-waits")

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
        """Send each piece as it comes. A synchronous stream gets a thread of its own until its end, since a connection
        to the database belongs to its thread."""
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
        """The request finds an event in its scope that is set when its client goes away."""
        gone, loop = threading.Event(), asyncio.get_running_loop()
        self._free_places -= 1
        done = self._patient.submit(self._answer, {**scope, DISCONNECTED: gone}, body)
        done.add_done_callback(partial(self._give_back, loop))
        watching = asyncio.create_task(_watch(receive, gone))
        try:
            return await asyncio.wrap_future(done)
        finally:
            gone.set()
            watching.cancel()

    def _give_back(self, loop: asyncio.AbstractEventLoop, done: Future[HttpResponseBase]) -> None:
        def leave() -> None:
            self._free_places += 1

        with suppress(RuntimeError):  # the loop has ended, and the process with it
            loop.call_soon_threadsafe(leave)

    def _answer(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """The answer, whatever it holds on to given back; a stream does so at its end."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)  # one of them is None
        response: Any = refusal if request is None else self.get_response(request)
        response._handler_class = self.__class__  # who says that the request is finished
        body.close()
        if isinstance(response, StreamingHttpResponse) and not isinstance(response, FileResponse):
            return response
        with closing(response):
            whole: HttpResponseBase = _whole(response) if isinstance(response, FileResponse) else response
            return whole


def _whole(response: FileResponse) -> HttpResponse:
    """The largest file is some MB, and each piece of it would cost one more change of threads."""
    whole = HttpResponse(b"".join(response), status=response.status_code)
    whole.headers, whole.cookies = response.headers, response.cookies
    return whole


async def _pieces(content: Iterator[bytes], thread: Executor) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    while (piece := await loop.run_in_executor(thread, next, content, None)) is not None:
        yield piece


async def _watch(receive: Receive, gone: threading.Event) -> None:
    """The body has been read: what comes next is that the client has gone."""
    message = await receive()
    if message["type"] == "http.disconnect":
        gone.set()


def _asks_to_wait(scope: Scope) -> bool:
    """By the header `Prefer` (RFC 7240)."""
    return any(name == b"prefer" and b"wait" in value for name, value in scope["headers"])


def _without_wait(scope: Scope) -> Scope:
    """The same request, without the wish to be kept waiting."""
    return {**scope, "headers": [header for header in scope["headers"] if header[0] != b"prefer"]}


def get_asgi_application() -> OneThreadHandler:
    """Set Django up; answer the application for HTTP."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
