"""Visitors of `make load` who read WormArena: its boards, its models and its games, of which they watch some."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import websocket
from load_browser import Browser

PAGES = ("pairs", "games")
WATCHES, GOES = 0.3, 0.3
"""Chances to look at the games that are played now, and to leave, after each game."""


class Worms:
    """What a browser does, step by step."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.rng = browser, browser.rng
        self.live: websocket.WebSocket | None = None

    def leave(self) -> None:
        if self.live:
            self.live.close()
            self.live = None

    def steps(self) -> Iterator[None]:
        self.browser.page("/wormarena/")
        yield
        models = self.browser.call("GET", "/api/wormarena/models", "GET worm models")
        yield
        while models:
            yield from self.model(quote(self.rng.choice(models)["modelName"], safe=""))
            if self.rng.random() < WATCHES:
                self.watch()
                yield
            page = self.rng.choice(PAGES)
            self.browser.fetch(f"/wormarena/{page}", f"GET /wormarena/{page}")
            yield
            if self.rng.random() < GOES:
                return

    def model(self, name: str) -> Iterator[None]:
        """Its page, and one of its games."""
        self.browser.fetch(f"/wormarena/model?name={name}", "GET /wormarena/model")
        yield
        listed = self.browser.call("GET", f"/api/wormarena/games/recent?model={name}", "GET worm games")
        yield
        if listed and listed["games"]:
            game = self.rng.choice(listed["games"])["gameId"]
            self.browser.fetch(f"/wormarena/games/{game}", "GET /wormarena/games/…")
            self.browser.fetch(f"/api/wormarena/games/{game}", "GET worm game")
            yield

    def watch(self) -> None:
        """The page of games that are played now, with its socket, which stays open."""
        self.leave()
        self.browser.fetch("/wormarena/live", "GET /wormarena/live")
        began = time.perf_counter()
        self.live = websocket.WebSocket(enable_multithread=False)
        host = urlsplit(self.browser.host or "").netloc
        self.live.connect(f"ws://{host}/ws/wormarena/", origin=self.browser.host, timeout=30)  # type: ignore[no-untyped-call]
        self.live.recv()
        self.browser.note("worms: open to snapshot", time.perf_counter() - began)
