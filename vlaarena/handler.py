"""How an HTTP request is answered under ASGI: all of it in one thread, by one of a fixed number of threads.

Every view and all of the middleware is synchronous. Django's own handler makes a thread for each request and changes
between it and the event loop three times or more, which costs more than most of our views; this one keeps its threads,
and changes once on the way in and once on the way out. As many requests are answered side by side as there are threads:
more would only get in each other's way, since they share one interpreter, and could ask for more connections than the
database's pool has. The others wait in the order in which they came.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from typing import IO, Any, TypeVar

import django
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.signals import request_started
from django.http.response import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import set_script_prefix

from arena.api.waits import GONE, places
from vlaarena.body_limit import Receive, Scope, Send

Answer = TypeVar("Answer")


class Threads:
    """`count` threads, each of which does one thing at a time; the one that was busy last goes first.

    A thread keeps its context, as under WSGI, and with it what Django holds per context: the client of the cache, and
    so the connection to Redis, which would else be made anew for each request.
    """

    def __init__(self, count: int) -> None:
        self._idle: asyncio.LifoQueue[ThreadPoolExecutor] = asyncio.LifoQueue()
        for number in range(count):
            self._idle.put_nowait(ThreadPoolExecutor(1, thread_name_prefix=f"request-{number}"))

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """What `work` answers. Who is cancelled meanwhile waits no longer; the thread is free when it is done."""
        thread, loop = await self._idle.get(), asyncio.get_running_loop()
        done = thread.submit(work)
        done.add_done_callback(lambda _: self._give_back(thread, loop))
        return await asyncio.wrap_future(done)

    def _give_back(self, thread: ThreadPoolExecutor, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop has ended, and the process with it
            loop.call_soon_threadsafe(self._idle.put_nowait, thread)


class WaitingRoom:
    """So many places for clients that ask to be kept waiting, each with a thread of its own: no other waits for that.

    Who finds no place is to be answered at once. A place is free again when its thread is done, which is soon after its
    client has gone away.
    """

    def __init__(self, places: int) -> None:
        self._free = places

    def enter(self) -> bool:
        """Whether there was a place; it is taken then."""
        if self._free == 0:
            return False
        self._free -= 1
        return True

    async def run(self, work: Callable[[threading.Event], Answer], receive: Receive) -> Answer:
        """What `work` answers, for whoever has entered. It is given an event that is set when the client goes away."""
        gone, loop = threading.Event(), asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, thread_name_prefix="request-waits")
        done = thread.submit(work, gone)
        done.add_done_callback(lambda _: self._give_back(loop))
        watching = asyncio.create_task(_watch(receive, gone))
        try:
            return await asyncio.wrap_future(done)
        finally:
            gone.set()
            watching.cancel()
            thread.shutdown(wait=False)

    def _give_back(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(RuntimeError):  # the loop has ended, and the process with it
            loop.call_soon_threadsafe(self._leave)

    def _leave(self) -> None:
        self._free += 1


async def _watch(receive: Receive, gone: threading.Event) -> None:
    """The body has been read: what comes next is that the client has gone."""
    message = await receive()
    if message["type"] == "http.disconnect":
        gone.set()


class OneThreadHandler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        self._threads = Threads(settings.WEB_THREADS)
        self._waiting = WaitingRoom(places(settings.WEB_THREADS))

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
        await self.send_response(await self._answered(scope, receive, body), send)

    async def _answered(self, scope: Scope, receive: Receive, body: IO[bytes]) -> HttpResponseBase:
        if not _asks_to_wait(scope):
            return await self._threads.run(partial(self._answer, scope, body))
        if not self._waiting.enter():
            return await self._threads.run(partial(self._answer, _without_wait(scope), body))
        return await self._waiting.run(lambda gone: self._answer({**scope, GONE: gone}, body), receive)

    def _answer(self, scope: Scope, body: IO[bytes]) -> HttpResponseBase:
        """The whole answer, whatever it holds on to given back."""
        set_script_prefix(get_script_prefix(scope))
        request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)  # one of them is None
        response: Any = refusal if request is None else self.get_response(request)
        response._handler_class = self.__class__  # who says that the request is finished
        with closing(body), closing(response):
            return _whole(response) if isinstance(response, StreamingHttpResponse) else response


def _whole(response: StreamingHttpResponse) -> HttpResponse:
    """Files come as streams. The largest is some MB, and Django would read it at once, too, in one more change."""
    whole = HttpResponse(b"".join(response), status=response.status_code)
    whole.headers, whole.cookies = response.headers, response.cookies
    return whole


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
