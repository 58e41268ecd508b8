"""Visitors who keep playing and voting whatever breaks, and write down what the arena promised them and their pages."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import urllib.error
from collections import Counter
from dataclasses import dataclass, field

from tests.faults.testbed import CONTESTANTS
from tests.faults.watcher import Told, Watcher
from tests.visitor import Json, Visitor

INSTRUCTIONS = (
    "Stack the red cube on the yellow cube",
    "Pick up the green sphere",
    "Put the red cube on the left plate",
)
STARTS = (1, 1, 3)
"""From how many a battle is shown: a third of all from three."""
CHOICES = ("left_better", "right_better", "tie", "both_bad")
TURN_PATIENCE_S = 300.0  # a part that is killed again and again may take long to start
TOLD_WITHIN_S = 120.0  # after the last turn, on an arena that is well: time for the longest pauses of a page
NO_ANSWER = (OSError, http.client.HTTPException, urllib.error.URLError)


@dataclass
class Ledger:
    """What was promised. `open_votes`: sent, and the answer was lost, so they may count or not, but not twice."""

    turns: set[str] = field(default_factory=set)
    votes: dict[str, tuple[str, str]] = field(default_factory=dict)  # battle -> (vote id, choice)
    open_votes: dict[str, str] = field(default_factory=dict)  # battle -> choice
    told: Counter[str] = field(default_factory=Counter)  # answers that refuse, by status and code
    untold: list[str] = field(default_factory=list)  # answers that refuse and do not say why
    unreachable: int = 0
    served: int = 0
    stuck: list[str] = field(default_factory=list)  # turns that did not end in time
    sockets: Told = field(default_factory=Told)

    def merge(self, other: Ledger) -> None:
        self.turns |= other.turns
        self.votes |= other.votes
        self.open_votes |= other.open_votes
        self.told += other.told
        self.untold += other.untold
        self.unreachable += other.unreachable
        self.served += other.served
        self.stuck += other.stuck
        self.sockets.merge(other.sockets)


class Player(threading.Thread):
    """One visitor: battle, turn, vote, and again, until told to stop. Each battle has its page, with a socket."""

    def __init__(self, url: str, seed: int) -> None:
        super().__init__(daemon=True, name=f"player {seed}")
        self.ledger = Ledger()
        self._url, self._visitor = url, Visitor(url)
        self._pages: list[Watcher] = []
        self._rng = random.Random(seed)
        self._over = threading.Event()
        self._counting = threading.Lock()  # the pages call, too

    def stop(self) -> None:
        self._over.set()

    def run(self) -> None:
        while not self._over.is_set():
            self._battle()

    def _battle(self) -> None:
        opened = self._ask("POST", "/api/sessions/init", {"robot_id": "widowx", "scene_id": "table"})
        if opened is None:
            return
        battle = opened["battle_id"]
        page = self._page(battle)
        said = {"instruction": self._rng.choice(INSTRUCTIONS), "starts": self._rng.choice(STARTS)}
        sent = self._ask("POST", f"/api/battles/{battle}/turns", said)
        if sent is None:
            self._leave(page)
            return
        page.sent()
        turns = [each["turn_id"] for each in sent.get("starts", [sent])]
        self.ledger.turns.update(turns)
        ends = [self._ended(turn) for turn in turns]
        if "stuck" in ends:
            self._leave(page)
        elif all(page.learns(turn, TURN_PATIENCE_S) for turn in turns):
            # Nobody votes before their page shows the end.
            page.finish(turns[-1], voted=set(ends) == {"completed"} and self._vote(battle, page))

    def told(self, deadline: float) -> None:
        """Wait until every page was told everything, to this moment of the monotonic clock."""
        for page in self._pages:
            page.end(deadline)
            self.ledger.sockets.merge(page.told)

    def _page(self, battle: str) -> Watcher:
        cookie = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self._visitor.cookies)
        page = Watcher(self._url, battle, cookie, CONTESTANTS, lambda: self._call("GET", f"/api/battles/{battle}"))
        self._pages.append(page)
        page.start()
        return page

    def _leave(self, page: Watcher) -> None:
        """A page that shows no turn, or one that its visitor gave up: it is owed nothing."""
        page.close()
        page.join()
        self._pages.remove(page)
        self.ledger.sockets.merge(page.told)

    def _ended(self, turn_id: str) -> str:
        deadline = time.monotonic() + TURN_PATIENCE_S
        while time.monotonic() < deadline:
            turn = self._ask("GET", f"/api/turns/{turn_id}")
            if turn and turn["status"] in {"completed", "failed"}:
                return str(turn["status"])
            time.sleep(0.2)
        self.ledger.stuck.append(turn_id)
        return "stuck"

    def _vote(self, battle: str, page: Watcher) -> bool:
        """Vote until an answer comes; whether there is a vote now. A lost answer leaves it open; the next decides."""
        choice = self._rng.choice(CHOICES)
        page.view.vote_cast = True
        while True:
            self.ledger.open_votes[battle] = choice
            status, body = self._call("POST", "/api/votes", {"battle_id": battle, "vote": choice})
            if status == 201:
                self.ledger.votes[battle] = (body["vote_id"], choice)
            page.ask()
            if status in {201, 409}:
                break
            if self._over.wait(0.5):
                return False
        if status == 201:
            del self.ledger.open_votes[battle]
        return status == 201 or body.get("code") == "already_voted"

    def _ask(self, method: str, path: str, body: Json | None = None) -> Json | None:
        """The body of a good answer; None for any other, which is written down, after a pause."""
        status, answer = self._call(method, path, body)
        if 200 <= status < 300:
            return answer
        self._over.wait(0.5)
        return None

    def _call(self, method: str, path: str, body: Json | None = None) -> tuple[int, Json]:
        try:
            status, answer = self._visitor.get(path) if method == "GET" else self._visitor.post(path, body)
        except json.JSONDecodeError as error:
            self.ledger.untold.append(f"{method} {path}: not JSON: {error.doc[-200:]!r}")
            return 599, {}
        except NO_ANSWER:
            status, answer = 0, {}
        with self._counting:
            self._count(f"{method} {path}", status, answer)
        return status, answer

    def _count(self, call: str, status: int, answer: Json) -> None:
        if status == 0:
            self.ledger.unreachable += 1
        elif 200 <= status < 300:
            self.ledger.served += 1
        elif isinstance(answer, dict) and answer.get("code") and answer.get("detail"):
            self.ledger.told[f"{status} {answer['code']}"] += 1
        else:
            self.ledger.untold.append(f"{call}: {status} {str(answer)[:200]}")


class Crowd:
    """Some players at once."""

    def __init__(self, url: str, size: int, seed: int) -> None:
        self.players = [Player(url, seed * 1000 + number) for number in range(size)]

    def __enter__(self) -> Crowd:
        for player in self.players:
            player.start()
        return self

    def __exit__(self, *_: object) -> None:
        for player in self.players:
            player.stop()
        for player in self.players:
            player.join(2 * TURN_PATIENCE_S + 120)
        deadline = time.monotonic() + TOLD_WITHIN_S
        for player in self.players:
            player.told(deadline)

    def ledger(self) -> Ledger:
        whole = Ledger()
        for player in self.players:
            whole.merge(player.ledger)
        return whole
