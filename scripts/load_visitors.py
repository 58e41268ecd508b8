"""The visitors of `make load`, simulated by locust.

A visitor behaves like a browser with a request every few seconds: it opens the battle page with its files, plays in a
session, watches through its socket, fetches the recordings, votes and looks at other pages. After some battles a new
visitor with an empty cache takes its place. Files of pages and scenes come on top of the rate. The script prints one
JSON object with the latencies per endpoint.
"""

# ruff: noqa: E402 - gevent must patch the standard library before any other import
from __future__ import annotations

from gevent import monkey

monkey.patch_all()

import argparse
import itertools
import json
import os
import random
import re
import sys
import time
from collections.abc import Generator, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import gevent
import websocket
from gevent.event import Event
from locust import FastHttpUser, task
from locust.env import Environment
from locust.stats import StatsEntry

INSTRUCTIONS = (
    "stack the red cube on the yellow cube",
    "put the yellow cube on the left plate",
    "pick up the green sphere",
    "wave to the crowd",
)
PROMPTS = ("Why is the sky blue?", "Schreibe ein kurzes Gedicht.", "Write a function that adds two numbers.")
CHOICES = ("left_better", "right_better", "tie", "both_bad")
LOOKED_AT = ("/", "/leaderboard", "/models", "/leaderboard/physics", "/api/leaderboard", "/api/models")
STATIC = re.compile(r'(?:src|href|data-worker|data-wasm)="(/static/[^"]+|/strings/[^"]+)"')
TURN_WITHIN_S = 60.0
SECOND_TURN, LOOK_AROUND, GOES = 0.3, 0.3, 0.2  # chances, after a turn and after each battle
SOCKET, FILE = "socket: ", "file: "  # prefixes of what is no request, and of what comes on top of the rate
_names = itertools.count()


class Visitor(FastHttpUser):
    """Simulates one browser after another. Each step of `steps` is a few requests, or a page with its files."""

    abstract = True  # `main` makes a subclass with address and pace
    connection_timeout = network_timeout = 30.0
    pace_s: float  # time between two requests
    text_share: float  # of the browsers that come

    def on_start(self) -> None:
        self.rng = random.Random(next(_names))
        self.feed: Feed | None = None
        self.played: list[str] = []
        self._calls, self._due = 0, 0.0
        self._come()

    def on_stop(self) -> None:
        self._hang_up()

    def wait_time(self) -> float:
        """The time until the next request is due."""
        self._due = max(self._due + self.pace_s * self._calls, time.monotonic() - self.pace_s)
        self._calls = 0
        pause: float = max(0.0, self._due - time.monotonic())
        return pause

    @task
    def step(self) -> None:
        try:
            next(self._script)
        except StopIteration:
            self._come()
        except (OSError, websocket.WebSocketException) as error:  # no socket: start over with a new browser
            self.note("could not open", 0.0, error)
            self._come()

    def _come(self) -> None:
        self._hang_up()
        self.client.cookiejar.clear()
        self.session_id = self.battle_id = ""
        self.texts = self.rng.random() < self.text_share
        self._calls, self._due = 0, time.monotonic()
        self._script = self.steps()

    def _hang_up(self) -> None:
        if self.feed:
            self.feed.close()
            self.feed = None

    def steps(self) -> Iterator[None]:
        self.page("/text" if self.texts else "/battle")
        yield
        if not self.texts:
            self.scene()
            yield
        while self.rng.random() >= GOES or not self.battle_id:
            self.open_battle()
            yield
            if not self.battle_id:
                continue
            self.watch()
            yield
            seen = yield from self.turn()
            if seen and self.rng.random() < SECOND_TURN:
                seen = yield from self.turn()
            if seen:
                self.vote()
                yield
                if not self.texts:
                    for episode_id in self.played:
                        self.fetch(f"/api/episodes/{episode_id}/replay.bin", "GET replay.bin")
                    yield
                self.call("GET", f"/api/battles/{self.battle_id}/effect", "GET effect")
                yield
            self.call("GET", "/api/sessions/?mine", "GET own sessions")
            yield
            if self.rng.random() < LOOK_AROUND:
                address = self.rng.choice(LOOKED_AT)
                self.fetch(address, f"GET {address}")
                yield

    def page(self, address: str) -> None:
        """Load a page and all files that it names, as with an empty cache."""
        self._calls += 1
        with self.client.get(address, name=f"GET {address}", headers=BROWSER, catch_response=True) as answer:
            found = sorted(set(STATIC.findall(answer.text or "")))
            if len(found) < 5:
                answer.failure(f"expected a page with its files, got {answer.status_code} with {len(found)}")
        for file in found:
            self.file(file, FILE + "of a page")

    def scene(self) -> None:
        """Load a scene and all its files."""
        found = self.call("GET", "/api/scenes/widowx/table/", "GET scene")
        for address in (found["xml_url"], *(asset["url"] for asset in found["assets"])) if found else ():
            self.file(address, FILE + "of a scene")

    def open_battle(self) -> None:
        self._hang_up()
        if self.session_id:
            opened = self.call("POST", f"/api/sessions/{self.session_id}/battles", "POST next battle", {})
        else:
            place = {"kind": "text"} if self.texts else {"robot_id": "widowx", "scene_id": "table"}
            opened = self.call("POST", "/api/sessions/init", "POST session", place)
        if opened:
            self.session_id, self.battle_id = opened["session_id"], opened["battle_id"]

    def watch(self) -> None:
        self.call("GET", f"/api/battles/{self.battle_id}", "GET battle")
        self.feed = Feed(self, self.battle_id)

    def turn(self) -> Generator[None, None, bool]:
        """Play a turn. Returns whether it could be watched to its end, so that there is something to vote on."""
        body = {"instruction": self.rng.choice(PROMPTS if self.texts else INSTRUCTIONS)}
        began = time.perf_counter()
        sent = self.call("POST", f"/api/battles/{self.battle_id}/turns", "POST turn", body)
        yield
        if not sent or not self.feed or not self.feed.wait_for(sent["turn_id"], began):
            return False
        self.played = [sent[f"{side}_episode_id"] for side in ("left", "right")]
        for episode_id in self.played:
            if self.texts:
                self.fetch(f"/api/episodes/{episode_id}", "GET answer")
            else:
                self.fetch(f"/api/episodes/{episode_id}/view.bin", "GET view.bin")
        yield
        return True

    def vote(self) -> None:
        reasons = {"helpful" if self.texts else "closer": "left"}
        body = {"battle_id": self.battle_id, "vote": self.rng.choice(CHOICES), "reasons": reasons}
        self.call("POST", "/api/votes", "POST vote", body)

    def call(self, method: str, address: str, name: str, body: Any = None) -> dict[str, Any] | None:
        """The JSON of a successful response. Any other is recorded as a failure with its text."""
        self._calls += 1
        more: dict[str, Any] = {} if body is None else {"json": body}
        with self.client.request(method, address, name=name, catch_response=True, **more) as answer:
            if answer.status_code and 200 <= answer.status_code < 300:
                found: dict[str, Any] = answer.json()
                return found
            answer.failure(f"{answer.status_code} {(answer.text or '')[:200]}")
        return None

    def fetch(self, address: str, name: str) -> None:
        self._calls += 1
        self.file(address, name)

    def file(self, address: str, name: str) -> None:
        with self.client.get(address, name=name, headers=BROWSER, catch_response=True) as answer:
            if answer.status_code != 200 or not answer.content:
                answer.failure(f"{answer.status_code} {(answer.text or '')[:200]}")

    def note(self, what: str, seconds: float, error: Exception | None = None) -> None:
        """Record something that took time and is no request."""
        self.environment.events.request.fire(
            request_type="", name=SOCKET + what, response_time=1000 * seconds, response_length=0, exception=error
        )


BROWSER = {"Accept-Encoding": "br, gzip", "Accept-Language": "en"}


class Ended:
    """The end of a turn: whether it was received, and when, by `time.perf_counter`."""

    def __init__(self) -> None:
        self.at: float | None = None
        self.is_told = Event()

    def tell(self) -> None:
        self.at = self.at or time.perf_counter()
        self.is_told.set()


class Feed:
    """The socket of one battle, read while it is open."""

    def __init__(self, visitor: Visitor, battle_id: str) -> None:
        self._visitor, self._over = visitor, False
        self._ended: dict[str, Ended] = {}
        self._socket = websocket.WebSocket(enable_multithread=False)
        before = time.perf_counter()
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.client.cookiejar)
        host = urlsplit(visitor.host or "").netloc
        self._socket.connect(  # type: ignore[no-untyped-call]
            f"ws://{host}/ws/battles/{battle_id}/", cookie=cookies, origin=visitor.host, timeout=30
        )
        first = json.loads(self._socket.recv())
        if first.get("type") != "snapshot":
            raise RuntimeError(f"a socket began with {str(first)[:200]}; expected a snapshot")
        visitor.note("open to snapshot", time.perf_counter() - before)
        self._socket.settimeout(None)
        self._reader = gevent.spawn(self._read)

    def wait_for(self, turn_id: str, began: float) -> bool:
        """Whether the end of the turn was received in time. `began`: when the turn was sent, by `time.perf_counter`."""
        turn = self._ended.setdefault(turn_id, Ended())
        turn.is_told.wait(max(0.0, began + TURN_WITHIN_S - time.perf_counter()))
        error = None if turn.at else TimeoutError(f"no turn.finished within {TURN_WITHIN_S:.0f} s")
        self._visitor.note("turn sent to turn.finished", (turn.at or time.perf_counter()) - began, error)
        return turn.at is not None

    def close(self) -> None:
        self._over = True
        self._reader.kill()
        self._socket.close()

    def _read(self) -> None:
        try:
            while True:
                self._take(json.loads(self._socket.recv()))
        except (OSError, ValueError, websocket.WebSocketException) as error:
            if not self._over:
                self._visitor.note("closed by the other side", 0.0, error)

    def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "turn.opened":  # on one machine, so both times are of one clock
            made = datetime.fromisoformat(event["turn"]["created_at"]).timestamp()
            self._visitor.note("turn.opened, row to socket", max(0.0, time.time() - made))
        elif event["type"] == "turn.finished":
            error = None if event["status"] == "completed" else RuntimeError("a turn failed")
            if error:
                self._visitor.note("turn failed", 0.0, error)
            self._ended.setdefault(event["turn_id"], Ended()).tell()


def summary(entry: StatsEntry) -> dict[str, Any]:
    shares = {f"p{round(100 * share)}_ms": entry.get_response_time_percentile(share) for share in (0.5, 0.95, 0.99)}
    return {
        "name": entry.name,
        "requests": entry.num_requests,
        "failures": entry.num_failures,
        **{name: round(value or 0.0, 1) for name, value in shares.items()},
        "max_ms": round(entry.max_response_time, 1),
        "per_s": round(entry.total_rps, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--visitors", type=int, default=300)
    parser.add_argument("--rate", type=float, default=50.0, help="requests per second of all visitors, without files")
    parser.add_argument("--ramp", type=float, default=300.0, help="seconds until all visitors are there; not measured")
    parser.add_argument("--seconds", type=float, default=120.0, help="measured, after the ramp")
    parser.add_argument("--text-share", type=float, default=0.0, help="of the visitors who ask language models")
    options = parser.parse_args()
    about = {"pace_s": options.visitors / options.rate, "text_share": options.text_share}
    crowd = type("Crowd", (Visitor,), {**about, "host": options.url.rstrip("/")})
    environment = Environment(user_classes=[crowd])
    runner = environment.create_local_runner()
    runner.start(options.visitors, spawn_rate=options.visitors / options.ramp)
    gevent.sleep(options.ramp)
    errors_of_the_ramp = {str(error.error): error.occurrences for error in environment.stats.errors.values()}
    environment.stats.reset_all()
    print("measuring", file=sys.stderr, flush=True)
    began, used = time.monotonic(), time.process_time()
    gevent.sleep(options.seconds)
    span, own = time.monotonic() - began, time.process_time() - used
    by_name = sorted(environment.stats.entries.values(), key=lambda entry: entry.name)
    whole = StatsEntry(environment.stats, "all requests without files", "", use_response_times_cache=False)
    for entry in by_name:
        if not entry.name.startswith((SOCKET, FILE)):
            whole.extend(entry)
    errors = {f"{each.name}: {each.error}": each.occurrences for each in environment.stats.errors.values()}
    found = {
        "seconds": round(span, 1),
        "visitors": runner.user_count,
        "per_s": round(whole.num_requests / span, 1),
        "generator_cores": round(own / span, 2),
        "endpoints": [summary(whole), *(summary(entry) for entry in by_name)],
        "errors": errors,
        "errors_of_the_ramp": errors_of_the_ramp,
    }
    print(json.dumps(found), flush=True)
    os._exit(0)  # ends all visitors at once: closing them takes long and is not measured


if __name__ == "__main__":
    main()
