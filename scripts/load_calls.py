"""Visitors of `make load` who call two voice agents, one after the other, and then vote.

They speak all the time, as a page with an open microphone sends it, and listen to the end of the call.
"""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator
from urllib.parse import urlsplit

import gevent
import websocket
from load_battles import Robots

CALL_S, SENT_S, PIECE_S = 8.0, 0.04, 0.1
"""How long a visitor stays on the line, and of how much audio a frame from the page and one to it are."""
LOUD = (4000).to_bytes(2, "little") * 640
"""A frame of the page: 40 ms of 16 kHz, 16 bits."""
ENDS_WITHIN_S = 30.0


class CallFailed(Exception):
    """A call that did not end as its caller wanted."""


class Calls(Robots):
    page, place, instructions, reason = "/voice", {"kind": "voice"}, ("Both calls",), "understood"
    second_turn = 0.0

    def prepare(self) -> Iterator[None]:
        yield from ()

    def turn(self) -> Generator[None, None, bool]:
        for label in ("a", "b"):
            wanted = {"label": label, "consent": True, "may_publish": False}
            opened = self.browser.call("POST", f"/api/battles/{self.battle_id}/calls", "POST call", wanted)
            yield
            if not opened or not self._hold(opened["socket"]):
                return False
        return (yield from super().turn())

    def _hold(self, address: str) -> bool:
        """Whether the call was held to its end, which the caller chooses."""
        began = time.perf_counter()
        try:
            late_s = _held(address, str(self.browser.host))
        except (OSError, ValueError, CallFailed, websocket.WebSocketException) as error:
            self.browser.note("a call", time.perf_counter() - began, error)
            return False
        self.browser.note("a call", time.perf_counter() - began)
        self.browser.note("a call's audio, its latest piece late by", late_s)
        return True

    def look(self, episodes: list[str]) -> None:
        for episode_id in episodes:
            self.browser.fetch(f"/api/episodes/{episode_id}", "GET transcript")

    def look_again(self) -> Iterator[None]:
        self.browser.call("GET", f"/api/battles/{self.battle_id}/agent-metrics", "GET agent metrics")
        yield
        for episode_id in self.played:
            self.browser.file(f"/api/episodes/{episode_id}/agent-audio", "GET a recording")
        yield


def _held(address: str, origin: str) -> float:
    """How late the latest piece of audio came on the clock that the earliest one set [s]. Raises CallFailed."""
    line = websocket.WebSocket(enable_multithread=False)
    line.connect(address, origin=origin, timeout=ENDS_WITHIN_S)  # type: ignore[no-untyped-call]
    speaking = gevent.spawn(_speak, line)
    ahead: list[float] = []
    try:
        while True:
            message = line.recv()
            if isinstance(message, bytes):
                ahead.append(time.perf_counter() - PIECE_S * len(ahead))
            elif (told := json.loads(message or "{}")).get("type") == "ended" and told["reason"] == "caller_hung_up":
                return max(ahead) - min(ahead) if ahead else 0.0
            elif told.get("type") in (None, "ended", "error"):
                raise CallFailed(f"{urlsplit(address).path[:12]}…: {message!r}")
    finally:
        speaking.kill()
        line.close()


def _speak(line: websocket.WebSocket) -> None:
    began = time.perf_counter()
    for number in range(round(CALL_S / SENT_S)):
        line.send_binary(LOUD)
        gevent.sleep(max(0.0, began + SENT_S * (number + 1) - time.perf_counter()))
    line.send(json.dumps({"type": "end"}))
