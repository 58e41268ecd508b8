"""A browser as a visitor of `make load` has it: it asks at a steady pace, and notes what each answer took."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import websocket
from locust import FastHttpUser, task

STATIC = re.compile(r'(?:src|href|data-worker|data-wasm)="(/static/[^"]+|/strings/[^"]+)"')
SOCKET, FILE = "socket: ", "file: "  # prefixes of what is no request, and of what comes on top of the rate
HEADERS = {"Accept-Encoding": "br, gzip", "Accept-Language": "en"}
_names = itertools.count()


class Script(Protocol):
    """What a visitor does."""

    def steps(self) -> Iterator[None]: ...

    def leave(self) -> None: ...


class Browser(FastHttpUser):
    """Simulates one browser after another. Each step of a script is a few requests, or a page with its files."""

    abstract = True  # `main` makes a subclass with address, pace and scripts
    connection_timeout = network_timeout = 30.0
    pace_s: float  # time between two requests
    scripts: dict[Callable[[Browser], Script], float]  # and the share of the browsers that have each

    def on_start(self) -> None:
        self.rng = random.Random(next(_names))
        self._script: Script | None = None
        self._calls, self._due = 0, 0.0
        self._come()

    def on_stop(self) -> None:
        if self._script:
            self._script.leave()

    def wait_time(self) -> float:
        """The time until the next request is due."""
        self._due = max(self._due + self.pace_s * self._calls, time.monotonic() - self.pace_s)
        self._calls = 0
        pause: float = max(0.0, self._due - time.monotonic())
        return pause

    @task
    def step(self) -> None:
        try:
            next(self._steps)
        except StopIteration:
            self._come()
        except (OSError, websocket.WebSocketException) as error:  # no socket: start over with a new browser
            self.note("could not open", 0.0, error)
            self._come()

    def _come(self) -> None:
        if self._script:
            self._script.leave()
        self.client.cookiejar.clear()
        self._calls, self._due = 0, time.monotonic()
        [begin] = self.rng.choices([*self.scripts], [*self.scripts.values()])
        self._script = begin(self)
        self._steps = self._script.steps()

    def page(self, address: str) -> None:
        """Load a page and all files that it names, as with an empty cache."""
        self._calls += 1
        with self.client.get(address, name=f"GET {address}", headers=HEADERS, catch_response=True) as answer:
            found = sorted(set(STATIC.findall(answer.text or "")))
            if len(found) < 5:
                answer.failure(f"expected a page with its files, got {answer.status_code} with {len(found)}")
        for file in found:
            self.file(file, FILE + "of a page")

    def call(self, method: str, address: str, name: str, body: Any = None) -> Any:
        """The JSON of a successful response. Any other is recorded as a failure with its text, and None comes back."""
        self._calls += 1
        more: dict[str, Any] = {} if body is None else {"json": body}
        with self.client.request(method, address, name=name, catch_response=True, **more) as answer:
            if answer.status_code and 200 <= answer.status_code < 300:
                return answer.json()
            answer.failure(f"{answer.status_code} {(answer.text or '')[:200]}")
        return None

    def fetch(self, address: str, name: str) -> None:
        self._calls += 1
        self.file(address, name)

    def file(self, address: str, name: str) -> None:
        with self.client.get(address, name=name, headers=HEADERS, catch_response=True) as answer:
            if answer.status_code != 200 or not answer.content:
                answer.failure(f"{answer.status_code} {(answer.text or '')[:200]}")

    def note(self, what: str, seconds: float, error: Exception | None = None) -> None:
        """Record something that took time and is no request."""
        self.environment.events.request.fire(
            request_type="", name=SOCKET + what, response_time=1000 * seconds, response_length=0, exception=error
        )
