"""Playing one battle over HTTP and a socket as a visitor would, and keeping all there is to see and to time until the
vote; what the vote tells is the label."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

SIDES = ("left", "right")
INSTRUCTIONS = (
    "pick up the red cube",
    "lift the green sphere",
    "put the red cube on the left plate",
    "place the blue cylinder on the right plate",
    "stack the red cube on the yellow cube",
    "put the yellow cube on top of the red cube",
)
POLL_S = 0.25
TURN_WITHIN_S = 240.0
START_WITHIN_S = 60.0
OF_A_SIDE = ("", "/view.bin", "/states.bin", "/replay.bin")
LARGEST = 8 * 2**20
FAILED = "failed "
"""Begins the names of what was seen of a turn that failed and was sent again."""


@dataclass(frozen=True)
class Reply:
    """An answer: when it was asked for and how long it took [s], `at` counted from sending the turn."""

    name: str
    at: float
    took: float
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Peeked:
    """One battle until its vote, and, by the vote, who played. `heard`: (moment [s], message) of the socket.

    `failures`: how many times the turn failed before it was played; `heard` is of the last time alone.
    """

    battle_id: str
    instruction: str
    turn: dict[str, Any] = field(default_factory=dict)
    replies: list[Reply] = field(default_factory=list)
    heard: list[tuple[float, str]] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    families: dict[str, str] = field(default_factory=dict)
    failures: int = 0

    def reply(self, name: str) -> Reply | None:
        """The last one of this name."""
        return next((reply for reply in reversed(self.replies) if reply.name == name), None)


class Outsider:
    """A visitor with a cookie and a clock."""

    def __init__(self, url: str) -> None:
        self._place = urlsplit(url).netloc
        self._cookie = ""
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self.peeked = Peeked("", "")

    def play(self, instruction: str, tries: int = 1) -> Peeked | None:
        """One battle of one turn. None when it failed so many times: there is nothing to vote on, nor to label."""
        opened = self._ask("POST", "/api/sessions/init", {"robot_id": "widowx", "scene_id": "table"}).json()
        battle = str(opened["battle_id"])
        self.peeked = Peeked(battle, instruction)
        with self._socket(battle) as socket:
            ear = threading.Thread(target=self._listen, args=(socket,), daemon=True)
            ear.start()
            self._began = time.monotonic()
            self._await_start(battle)
            self._began = time.monotonic()
            sent, status = self._send(battle, instruction)
            while status == "failed" and self.peeked.failures + 1 < tries:
                self._put_aside()
                sent, status = self._send(battle, instruction)
            if status == "completed":
                self._fetch(sent)
        ear.join(5.0)
        if status != "completed":
            return None
        self.peeked.turn = sent
        voted = self._ask("POST", "/api/votes", {"battle_id": battle, "vote": "tie"}).json()
        for side in SIDES:
            model = voted["revealed_models"][side]
            self.peeked.models[side], self.peeked.families[side] = model["model_id"], model["family"]
        return self.peeked

    def _send(self, battle: str, instruction: str) -> tuple[dict[str, Any], str]:
        sent = self._note("sent", "POST", f"/api/battles/{battle}/turns", {"instruction": instruction}).json()
        return sent, self._watch(battle, sent["turn_id"])

    def _put_aside(self) -> None:
        """What was seen of a turn that failed, before it is sent again."""
        peeked = self.peeked
        peeked.failures += 1
        peeked.replies = [
            reply
            if reply.name == "start" or reply.name.startswith(FAILED)
            else replace(reply, name=FAILED + reply.name)
            for reply in peeked.replies
        ]
        peeked.heard = []
        self._began = time.monotonic()

    def _await_start(self, battle: str) -> None:
        """What is shown before the first instruction, as soon as it is made."""
        deadline = time.monotonic() + START_WITHIN_S
        while self._note("start", "GET", f"/api/battles/{battle}/start").json()["start"] is None:
            if time.monotonic() > deadline:
                return
            time.sleep(POLL_S / 5)

    def _watch(self, battle: str, turn_id: str) -> str:
        """Ask again and again, as no page would need to, until the turn is said to have ended."""
        deadline = time.monotonic() + TURN_WITHIN_S
        while time.monotonic() < deadline:
            turn = self._note("turn", "GET", f"/api/turns/{turn_id}").json()
            self._note("queue", "GET", f"/api/turns/{turn_id}/queue")
            self._note("battle", "GET", f"/api/battles/{battle}")
            if turn["status"] in ("completed", "failed"):
                return str(turn["status"])
            time.sleep(POLL_S)
        return "stuck"

    def _fetch(self, sent: dict[str, Any]) -> None:
        """All of both sides, in an order that changes from battle to battle: the first one waits for caches."""
        wanted = [(side, part) for part in OF_A_SIDE for side in SIDES]
        random.shuffle(wanted)
        for side, part in wanted:
            self._note(f"episode{part}:{side}", "GET", f"/api/episodes/{sent[f'{side}_episode_id']}{part}")

    def _note(self, name: str, method: str, path: str, body: dict[str, Any] | None = None) -> Reply:
        reply = self._ask(method, path, body, name)
        self.peeked.replies.append(reply)
        return reply

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None, name: str = "") -> Reply:
        """On a connection of its own, so that no call waits for another."""
        connection = http.client.HTTPConnection(self._place, timeout=60)
        headers = {"Content-Type": "application/json", "Cookie": self._cookie}
        at = time.monotonic()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
            took = time.monotonic() - at
        finally:
            connection.close()
        given = {key.lower(): value for key, value in answer.getheaders()}
        if "set-cookie" in given:
            self._cookie = given.pop("set-cookie").partition(";")[0]
        if method == "POST" and answer.status >= 400:
            raise AssertionError(f"{method} {path}: {answer.status} {content[:200]!r}")
        return Reply(name, at - self._began, took, answer.status, given, content)

    def _socket(self, battle: str) -> Any:
        return connect(
            f"ws://{self._place}/ws/battles/{battle}/",
            origin=Origin(f"http://{self._place}"),
            additional_headers={"Cookie": self._cookie},
            open_timeout=30,
            close_timeout=2,
            max_size=LARGEST,
            proxy=None,
        )

    def _listen(self, socket: Any) -> None:
        while True:
            try:
                text = socket.recv()
            except ConnectionClosed:
                return
            self.peeked.heard.append((time.monotonic() - self._began, str(text)))


def peek_at_many(
    url: str,
    battles: int,
    at_once: int,
    seed: int = 1,
    tries: int = 1,
    keep: Callable[[Peeked], None] = lambda peeked: None,
) -> list[Peeked]:
    """So many battles by new visitors, `at_once` side by side; others in place of those whose turn failed, once.

    `tries`: how often a turn that fails is sent. `keep` is given each battle as it ends.
    """
    rng = random.Random(seed)
    found: list[Peeked] = []
    for _ in range(2):
        wanted = [rng.choice(INSTRUCTIONS) for _ in range(battles - len(found))]
        pool = ThreadPoolExecutor(at_once)
        try:
            for done in as_completed([pool.submit(Outsider(url).play, one, tries) for one in wanted]):
                if peeked := done.result():
                    found.append(peeked)
                    keep(peeked)
        finally:
            pool.shutdown(cancel_futures=True)
    return found
