"""The battle page as a visitor sees and uses it."""

from __future__ import annotations

import json
import time
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page, WebSocket

PATIENCE_S = 60.0


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
            self.page.wait_for_timeout(50)

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
            self.complaints.append(message.text)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.heard.append(str(frame)))

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(frame) for frame in self.heard]
