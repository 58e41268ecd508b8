"""How an HTTP request is answered under ASGI: all of it in one thread, by one of a fixed number of threads.

Every view and all of the middleware is synchronous. Django's own handler makes a thread for each request and changes
between it and the event loop three times or more, which costs more than most of our views; this one keeps its threads,
and changes once on the way in and once on the way out. As many requests are answered side by side as there are threads:
more would only get in each other's way, since they share one interpreter, and could ask for more connections than the
database's pool has. The others wait in the order in which they came.
"""

from __future__ import annotations

import asyncio
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


async def run_in_extra_thread(work: Callable[[], Answer]) -> Answer:
    """For who asks to be kept waiting, so that others do not wait for that."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="request-waits")
    try:
        return await asyncio.wrap_future(thread.submit(work))
    finally:
        thread.shutdown(wait=False)


class OneThreadHandler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        self._threads = Threads(settings.WEB_THREADS)

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
        run = run_in_extra_thread if _asks_to_wait(scope) else self._threads.run
        await self.send_response(await run(partial(self._answer, scope, body)), send)

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


def get_asgi_application() -> OneThreadHandler:
    """Set Django up; answer the application for HTTP."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
