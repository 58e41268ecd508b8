"""The battle page as a visitor sees and uses it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page, WebSocket

PATIENCE_S = 180.0
"""A machine that is busy with something else takes its time; whoever waits less judges the machine."""


class BattlePage:
    """Keeps what the browser complained about (`complaints`) and all that the page was told (`heard`)."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.heard: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._note)
        page.on("websocket", self._listen)
        page.add_init_script(
            "addEventListener('securitypolicyviolation',"
            " (event) => console.error('CSP', event.violatedDirective, event.blockedURI))"
        )

    def open(self, path: str = "/battle") -> BattlePage:
        self.page.goto(path)
        return self

    def open_ready(self, path: str = "/battle") -> BattlePage:
        """Opened, the scene drawn and the battle known."""
        self.open(path)
        self.wait_for("Boolean(window.vlaArena?.ready && vlaArena.battle)")
        return self

    def part(self, name: str) -> Locator:
        return self.page.locator(f"[data-part={name}]")

    def side(self, side: str, part: str) -> Locator:
        return self.page.locator(f"[data-viewer={side}] [data-part={part}]")

    @property
    def phase(self) -> str | None:
        return self.page.locator("#battle").get_attribute("data-phase")

    def ask(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def wait_for(self, script: str, seconds: float = PATIENCE_S) -> None:
        """Wait until the expression is true. Playwright's own way evaluates text in the page, which forbids it."""
        deadline = time.monotonic() + seconds
        while not self.ask(script):
            assert time.monotonic() < deadline, f"not so after {seconds} s: {script}\n{self.complaints}"
            self.page.wait_for_timeout(100)

    def wait_for_pictures(self) -> None:
        """Wait until the moment of the clock is drawn, and nothing more has been drawn for some frames."""
        self.wait_for("!vlaArena.clock.playing && vlaArena.drawing.record === vlaArena.clock.record")
        self.ask(
            """async () => { for (let [drawn, quiet] = [-1, 0]; quiet < 5; ) {
                 await new Promise(requestAnimationFrame);
                 quiet = vlaArena.drawing.drawn === drawn ? quiet + 1 : 0;
                 drawn = vlaArena.drawing.drawn; } }"""
        )

    def picture(self, side: str) -> bytes:
        """What this side shows, as a PNG."""
        return self.page.locator(f"[data-viewer={side}] canvas").screenshot()

    def wait_for_picture(self, side: str, is_it: Callable[[bytes], bool]) -> None:
        """Wait until this side shows such a picture."""
        deadline = time.monotonic() + PATIENCE_S
        while not is_it(self.picture(side)):
            assert time.monotonic() < deadline, f"no such picture on the {side} after {PATIENCE_S} s"

    def send(self, instruction: str) -> None:
        self.page.locator("#instruction").fill(instruction)
        self.part("send").click()

    def play_turn(self, instruction: str) -> None:
        """Send it and wait until both sides have settled and their recordings are here."""
        turns = self.ask("vlaArena.battle.turns.length")
        self.send(instruction)
        self.wait_for(f"vlaArena.battle.turns.length > {turns} && vlaArena.battle.can_send")
        self.wait_for("!vlaArena.clock.growing && vlaArena.records('left') > 1 && vlaArena.records('right') > 1")

    def vote(self, vote: str = "tie") -> None:
        """Vote on the turn shown and wait until the exact recordings, which come with it, are here."""
        self.wait_for("document.querySelector('[data-part=vote]').dataset.open === 'true'")
        self.page.locator(f"[data-vote={vote}]").click()
        self.wait_for("vlaArena.battle.status === 'voted' && vlaArena.exactness === 'here'")

    def fetch(self, path: str) -> Any:
        """A call of the API with this visitor's cookie."""
        answer = self.page.request.get(path)
        assert answer.ok, (path, answer.status)
        return answer.json()

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} {message.location['url']}")

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.heard.append(str(frame)))

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(frame) for frame in self.heard]
