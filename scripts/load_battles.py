"""Visitors of `make load` who have two contestants compete: robots that act, or language models that answer."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Any, ClassVar

from load_browser import FILE, Browser
from load_feed import Feed

INSTRUCTIONS = (
    "stack the red cube on the yellow cube",
    "put the yellow cube on the left plate",
    "pick up the green sphere",
    "wave to the crowd",
)
PROMPTS = ("Why is the sky blue?", "Schreibe ein kurzes Gedicht.", "Write a function that adds two numbers.")
CHOICES = ("left_better", "right_better", "tie", "both_bad")
LOOKED_AT = ("/", "/leaderboard", "/models", "/leaderboard/physics", "/api/leaderboard", "/api/models")
SECOND_TURN, LOOK_AROUND, GOES = 0.3, 0.3, 0.2  # chances, after a turn and after each battle


class Robots:
    """What a browser does, step by step. A step is a few requests."""

    page = "/battle"
    place: ClassVar[dict[str, str]] = {"robot_id": "widowx", "scene_id": "table"}
    instructions: tuple[str, ...] = INSTRUCTIONS
    reason = "closer"
    second_turn = SECOND_TURN

    def __init__(self, browser: Browser) -> None:
        self.browser, self.rng = browser, browser.rng
        self.feed: Feed | None = None
        self.session_id = self.battle_id = ""
        self.played: list[str] = []

    def leave(self) -> None:
        if self.feed:
            self.feed.close()
            self.feed = None

    def steps(self) -> Iterator[None]:
        self.browser.page(self.page)
        yield
        yield from self.prepare()
        while self.rng.random() >= GOES or not self.battle_id:
            self.open_battle()
            yield
            if not self.battle_id:
                continue
            self.watch()
            yield
            seen = yield from self.turn()
            if seen and self.rng.random() < self.second_turn:
                seen = yield from self.turn()
            if seen:
                self.vote()
                yield
                yield from self.look_again()
                self.browser.call("GET", f"/api/battles/{self.battle_id}/effect", "GET effect")
                yield
            self.browser.call("GET", "/api/sessions/?mine", "GET own sessions")
            yield
            if self.rng.random() < LOOK_AROUND:
                address = self.rng.choice(LOOKED_AT)
                self.browser.fetch(address, f"GET {address}")
                yield

    def prepare(self) -> Iterator[None]:
        """The scene and all its files."""
        browser = self.browser
        found = browser.call("GET", "/api/scenes/widowx/table/", "GET scene")
        for address in (found["xml_url"], *(asset["url"] for asset in found["assets"])) if found else ():
            browser.file(address, FILE + "of a scene")
        yield

    def open_battle(self) -> None:
        self.leave()
        if self.session_id:
            opened = self.browser.call("POST", f"/api/sessions/{self.session_id}/battles", "POST next battle", {})
        else:
            opened = self.browser.call("POST", "/api/sessions/init", "POST session", self.place)
        if opened:
            self.session_id, self.battle_id = opened["session_id"], opened["battle_id"]

    def watch(self) -> None:
        self.browser.call("GET", f"/api/battles/{self.battle_id}", "GET battle")
        self.feed = Feed(self.browser, self.battle_id)

    def turn(self) -> Generator[None, None, bool]:
        """Play a turn. Returns whether it could be watched to its end, so that there is something to vote on."""
        body = {"instruction": self.rng.choice(self.instructions)}
        began = time.perf_counter()
        sent = self.browser.call("POST", f"/api/battles/{self.battle_id}/turns", "POST turn", body)
        yield
        if not sent or not self.feed or not self.feed.wait_for(sent["turn_id"], began):
            return False
        self.played = [sent[f"{side}_episode_id"] for side in ("left", "right")]
        self.look(self.played)
        yield
        return True

    def look(self, episodes: list[str]) -> None:
        for episode_id in episodes:
            self.browser.fetch(f"/api/episodes/{episode_id}/view.bin", "GET view.bin")

    def vote(self) -> None:
        body: dict[str, Any] = {"battle_id": self.battle_id, "vote": self.rng.choice(CHOICES)}
        self.browser.call("POST", "/api/votes", "POST vote", {**body, "reasons": {self.reason: "left"}})

    def look_again(self) -> Iterator[None]:
        """After the vote."""
        for episode_id in self.played:
            self.browser.fetch(f"/api/episodes/{episode_id}/replay.bin", "GET replay.bin")
        yield


class Texts(Robots):
    page, place, instructions, reason = "/text", {"kind": "text"}, PROMPTS, "helpful"

    def prepare(self) -> Iterator[None]:
        yield from ()

    def look(self, episodes: list[str]) -> None:
        for episode_id in episodes:
            self.browser.fetch(f"/api/episodes/{episode_id}", "GET answer")

    def look_again(self) -> Iterator[None]:
        yield from ()
