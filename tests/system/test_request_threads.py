"""One web process answers as many requests side by side as it has threads, and keeps these threads."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.cache import caches
from django.core.exceptions import ImproperlyConfigured
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from arena.api.long_poll import disconnected
from vlaarena import env
from vlaarena.handler import OneThreadHandler

THREADS = 2


class Site:
    """A handler whose view waits until it is let go, and what was seen of it."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.threads: list[str] = []
        self.order: list[str] = []
        self._lock = threading.Lock()
        self.inside = self.most_inside = 0
        self.handler = OneThreadHandler()
        self.handler.get_response = self.view  # type: ignore[method-assign]

    def view(self, request: HttpRequest) -> HttpResponseBase:
        with self._counted():
            self.order.append(request.path)
            self.threads.append(threading.current_thread().name)
            if request.path != "/at-once":
                self.go.wait(20)
        return FileResponse(iter([b"one ", b"two"])) if request.path == "/file" else HttpResponse("done")

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
        yield
        with self._lock:
            self.inside -= 1

    async def ask(self, path: str, leave: asyncio.Event | None = None, **headers: str) -> bytes:
        """The body of the answer. The client goes away when it is to `leave`."""
        named = [(name.encode(), value.encode()) for name, value in headers.items()]
        scope: dict[str, Any] = {"type": "http", "method": "GET", "path": path, "headers": named, "query_string": b""}
        sent: list[dict[str, Any]] = []
        asked = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> dict[str, Any]:
            for message in asked:
                return message
            await (leave or asyncio.Event()).wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.handler(scope, receive, send)
        assert sent[0]["status"] == 200
        return b"".join(message.get("body", b"") for message in sent)


@pytest.fixture
def site(settings: Any) -> Site:
    settings.WEB_THREADS = THREADS
    return Site()


def test_no_more_requests_than_threads_are_answered_at_once(site: Site) -> None:
    assert asyncio.run(crowd_of(site, 3 * THREADS)) == [b"done"] * (3 * THREADS)
    assert site.most_inside == THREADS


def test_who_waits_for_a_thread_is_answered_in_the_order_in_which_requests_came(settings: Any) -> None:
    settings.WEB_THREADS = 1
    site = Site()
    asyncio.run(crowd_of(site, 6))
    assert site.order == [f"/{number}" for number in range(6)]


async def crowd_of(site: Site, count: int) -> list[bytes]:
    """So many requests, one after the other; they are let go when all have come."""
    asked = []
    for number in range(count):
        asked.append(asyncio.create_task(site.ask(f"/{number}")))
        await asyncio.sleep(0.02)
    site.go.set()
    return await asyncio.gather(*asked)


def test_one_request_after_the_other_is_answered_by_threads_that_stay(site: Site) -> None:
    site.go.set()

    async def one_by_one() -> None:
        for number in range(5 * THREADS):
            await site.ask(f"/{number}")

    asyncio.run(one_by_one())
    assert len(set(site.threads)) <= THREADS


def test_a_thread_keeps_its_client_of_the_cache_and_so_its_connection(settings: Any) -> None:
    settings.WEB_THREADS = 1
    site = Site()
    site.go.set()
    used: list[Any] = []

    def view(request: HttpRequest) -> HttpResponseBase:
        used.append(caches["default"])
        return site.view(request)

    site.handler.get_response = view  # type: ignore[method-assign]

    async def one_by_one() -> None:
        for number in range(3):
            await site.ask(f"/{number}")

    asyncio.run(one_by_one())
    assert used[0] is used[1] is used[2]


def patient_site(settings: Any) -> Site:
    """Of six threads, so that two may be kept waiting; whoever is not kept waiting is answered at once."""
    settings.WEB_THREADS = 6
    site = Site()

    def view(request: HttpRequest) -> HttpResponseBase:
        if "Prefer" not in request.headers:
            return HttpResponse("at once")
        with site._counted():
            gone = disconnected(request)
            while not (site.go.is_set() or gone.wait(0.01)):
                pass
        return HttpResponse("gone" if gone.is_set() else "waited")

    site.handler.get_response = view  # type: ignore[method-assign]
    return site


def test_a_third_of_the_threads_may_be_kept_waiting_and_the_others_are_answered_at_once(settings: Any) -> None:
    site = patient_site(settings)

    async def crowd() -> list[bytes]:
        patient = [asyncio.create_task(site.ask(f"/{number}", prefer="wait=60")) for number in range(20)]
        while site.inside < 2:
            await asyncio.sleep(0.01)
        answered = [await asyncio.wait_for(task, 10) for task in patient[2:]]
        assert await asyncio.wait_for(site.ask("/somebody"), 10) == b"at once"
        site.go.set()
        return [*await asyncio.gather(*patient[:2]), *answered]

    assert asyncio.run(crowd()) == [b"waited"] * 2 + [b"at once"] * 18
    assert site.most_inside == 2


def test_who_has_waited_leaves_the_place_to_the_next(settings: Any) -> None:
    site = patient_site(settings)
    site.go.set()

    async def one_after_the_other() -> list[bytes]:
        answers = []
        for number in range(6):
            answers.append(await site.ask(f"/{number}", prefer="wait=60"))
            await asyncio.sleep(0.02)
        return answers

    assert asyncio.run(one_after_the_other()) == [b"waited"] * 6


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_client_that_goes_away_frees_its_place_and_its_thread(settings: Any, cancelled: bool) -> None:
    """Told by `http.disconnect`, as by any server, or by the end of its task, as by some."""
    site = patient_site(settings)

    async def crowd() -> bytes:
        leave = asyncio.Event()
        leaving = [asyncio.create_task(site.ask(f"/{number}", leave, prefer="wait=60")) for number in range(2)]
        while site.inside < 2:
            await asyncio.sleep(0.01)
        assert await site.ask("/too-many", prefer="wait=60") == b"at once"
        if cancelled:
            for task in leaving:
                task.cancel()
        leave.set()
        await asyncio.gather(*leaving, return_exceptions=True)
        while site.inside:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        late = asyncio.create_task(site.ask("/late", prefer="wait=60"))
        while not site.inside:
            await asyncio.sleep(0.01)
        site.go.set()
        return await late

    assert asyncio.run(asyncio.wait_for(crowd(), 20)) == b"waited"


def test_a_thread_whose_visitor_has_gone_away_is_free_when_it_is_done_and_not_before(site: Site) -> None:
    async def crowd() -> bytes:
        gone = [asyncio.create_task(site.ask(f"/{number}")) for number in range(THREADS)]
        while site.inside < THREADS:
            await asyncio.sleep(0.01)
        for task in gone:
            task.cancel()
        await asyncio.gather(*gone, return_exceptions=True)
        late = asyncio.create_task(site.ask("/at-once"))
        await asyncio.sleep(0.1)
        assert "/at-once" not in site.order, "it was given to a thread that is still busy"
        site.go.set()
        return await late

    assert asyncio.run(crowd()) == b"done"
    assert site.most_inside == THREADS


def test_a_file_arrives_whole(site: Site) -> None:
    site.go.set()
    assert asyncio.run(site.ask("/file")) == b"one two"


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many"])
def test_no_number_of_threads_but_a_whole_one_is_taken(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_WEB_THREADS", value)
    with pytest.raises(ImproperlyConfigured, match="ARENA_WEB_THREADS"):
        env.count("ARENA_WEB_THREADS", 6)


def test_a_web_process_never_stops_to_go_through_what_it_has_imported() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import vlaarena.asgi, gc; print(gc.get_freeze_count())"],
        env={**os.environ, "ARENA_SECRET_KEY": "x" * 60},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert int(told.stdout) > 100_000
