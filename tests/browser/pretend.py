"""What is hard to bring about on purpose, put between page and server: refusals, a queue, a turn that failed."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Page, Route, WebSocketRoute

from simulation.view_format import ROWS_PER_CHUNK
from tests.browser.battle_page import BattlePage

SIDES = ("left", "right")
Refusal = Callable[[Route], None]


def refuse(status: int, code: str, detail: str = "", **headers: str) -> Refusal:
    """Answers any call as the API refuses: with a code and a sentence."""

    def answer(route: Route) -> None:
        body = json.dumps({"code": code, "detail": detail or code})
        route.fulfill(status=status, content_type="application/json", body=body, headers=headers)

    return answer


def hear_nothing(page: Page) -> None:
    """From the next load on the battle's socket is open and silent."""
    page.route_web_socket("**/ws/battles/**", lambda socket: None)


def hear_no_socket(page: Page) -> None:
    """From the next load on every socket closes at once."""
    page.route_web_socket("**/ws/battles/**", lambda socket: socket.close())


class Line:
    """What the page's sockets go through. A cut lasts for the socket that is open, and neither side is told of it.

    Before the page is loaded.
    """

    def __init__(self, page: Page) -> None:
        self.opened = self.lost = 0
        self._cut_after: str | None = None
        page.route_web_socket("**/ws/battles/**", self._connect)

    def cut_after(self, event: str) -> None:
        """After the next message of this type nothing passes the open socket any more. The next one is whole again."""
        self._cut_after = event

    def _connect(self, browser: WebSocketRoute) -> None:
        self.opened += 1
        server, cut = browser.connect_to_server(), False

        def to_browser(message: str | bytes) -> None:
            nonlocal cut
            if cut:
                self.lost += 1
                return
            browser.send(message)
            if self._cut_after is not None and json.loads(message)["type"] == self._cut_after:
                cut, self._cut_after = True, None

        server.on_message(to_browser)
        browser.on_message(lambda message: None if cut else server.send(message))


def queue(battle: BattlePage, ahead: int, seconds: int) -> None:
    """From the next load on the last turn waits behind `ahead` others."""
    snapshot = battle.ask("vlaArena.battle")
    turn = snapshot["turns"][-1]
    turn |= {"status": "queued", "release_from": None}
    for side in SIDES:
        turn[side] |= {"status": "queued", "steps": None}
    snapshot |= {"can_vote": False, "can_send": False, "vote_blocked_because": "turn_running"}
    answer(battle, snapshot)
    battle.page.route("**/queue", lambda route: route.fulfill(json={"ahead": ahead, "expected_wait_s": seconds}))


def fail(battle: BattlePage, reason: str) -> None:
    """From the next load on the last turn has failed, which before the vote is told of both sides alike."""
    snapshot = battle.ask("vlaArena.battle")
    turn = snapshot["turns"][-1]
    turn["status"] = "failed"
    for side in SIDES:
        turn[side] |= {"status": "failed", "steps": None, "error": reason}
    snapshot |= {"can_vote": False, "vote_blocked_because": "no_completed_turn", "seq": snapshot["seq"] + 1}
    answer(battle, snapshot)


def answer(battle: BattlePage, snapshot: dict[str, Any]) -> None:
    battle.page.route(f"**/api/battles/{snapshot['battle_id']}", lambda route: route.fulfill(json=snapshot))


class LiveTurn:
    """The battle's socket as it is, until `show`: from then on, with every load, it tells of a live turn only.

    Before the page is loaded.
    """

    def __init__(self, page: Page) -> None:
        self._told: list[dict[str, Any]] | None = None
        page.route_web_socket("**/ws/battles/**", self._connect)

    def show(self, battle: BattlePage, steps: int) -> None:
        """From the next load on the last turn, which both sides have completed, has come as far as `steps`."""
        snapshot = battle.ask("vlaArena.battle")
        turn = snapshot["turns"][-1]
        rows = {}
        for side in SIDES:
            rows[side] = base64.b64encode(_seen(battle, turn[side]["episode_id"], steps)).decode()
            turn[side] |= {"status": "running", "steps": None}
        began = datetime.now(UTC) - timedelta(seconds=steps * turn["step_s"])
        turn |= {"status": "running", "release_from": began.isoformat(timespec="milliseconds")}
        snapshot |= {"can_vote": False, "can_send": False, "vote_blocked_because": "turn_running"}
        answer(battle, snapshot)
        told = {"type": "rollout.frames", "turn_id": turn["turn_id"], "from_row": 0, **rows}
        self._told = [{"type": "snapshot", "battle": snapshot}, told]

    def release(self) -> None:
        """From the next load on the socket is as it is again. The battle's own call has to be let through as well."""
        self._told = None

    def _connect(self, socket: WebSocketRoute) -> None:
        if self._told is None:
            socket.connect_to_server()
        for message in self._told or ():
            socket.send(json.dumps(message))


def _seen(battle: BattlePage, episode_id: str, steps: int) -> bytes:
    """What is seen of an episode as far as `steps`."""
    place = battle.page.locator("#battle")
    scene = battle.fetch(f"/api/scenes/{place.get_attribute('data-robot')}/{place.get_attribute('data-scene')}/")
    row_bytes = 2 * len(scene["view"]["scale"])
    content = battle.page.request.get(f"/api/episodes/{episode_id}/view.bin").body()
    return content[: (ROWS_PER_CHUNK * steps + 1) * row_bytes]


def undo_seconds(page: Page, seconds: float) -> None:
    """From the next load on a vote is held so long, as a setting of the arena would have it."""
    page.add_init_script(
        f"""new MutationObserver((changes, observer) => {{
              const vote = document.querySelector('[data-undo-seconds]');
              if (vote) {{ vote.dataset.undoSeconds = '{seconds:g}'; observer.disconnect(); }}
            }}).observe(document, {{ childList: true, subtree: true }})"""
    )
