"""The battle page's end of a socket: follows one battle as `frontend/src/core/socket.js` and `store.js` do, whatever
is cut, and writes down what it was told that it should not have been, or was not told in the end.
"""

from __future__ import annotations

import contextlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import ClientConnection, connect, reconnect
from websockets.typing import Origin

from tests.arena.reducer import Gap, apply

Json = dict[str, Any]
FIRST_RETRY_S, LONGEST_RETRY_S = 0.5, 10.0  # these and QUIET_S are the page's
QUIET_S = 15.0
REFUSED = 4404
LARGEST = 1 << 26  # the page takes any; the library would end a socket at a megabyte
TICK_S = 0.5
ENDED = {"completed", "failed"}


@dataclass
class Told:
    """What one socket or many were told. `counts`: see docs/operations.md. `wrong`: in words."""

    counts: Counter[str] = field(default_factory=Counter)
    turns: set[tuple[str, str]] = field(default_factory=set)  # a battle's socket, and a turn that it spoke of
    wrong: list[str] = field(default_factory=list)

    def merge(self, other: Told) -> None:
        self.counts += other.counts
        self.turns |= other.turns
        self.wrong += other.wrong


class View:
    """What a page knows of its battle from the messages so far. `names`: may not be in any before the vote is cast."""

    def __init__(self, battle_id: str, names: tuple[str, ...], told: Told) -> None:
        self.battle: Json | None = None
        self.vote_cast = False
        self._id, self._told = battle_id, told
        self._names = [json.dumps(name) for name in names]
        self._gap = False

    def take(self, text: str) -> bool:
        """Take a message in; answers whether a snapshot has to be asked for."""
        message: Json = json.loads(text)
        if not self.vote_cast and any(name in text for name in self._names):
            self._told.wrong.append(f"the socket of {self._id} told names before the vote: {text[:300]}")
        if message["type"] == "snapshot":
            self.take_snapshot(message["battle"])
            return False
        self._told.counts["events"] += 1
        self._heard_of(message["turn"]["turn_id"] if message["type"] == "turn.opened" else message.get("turn_id"))
        if message["type"] == "rollout.frames":  # has no number and changes nothing
            return False
        before = self.battle
        try:
            if before is None:
                raise Gap
            self.battle = apply(before, message)
        except (Gap, StopIteration):  # the second: news of a turn that a lost event opened
            self._told.counts["gaps"] += not self._gap
            self._gap = True
        else:
            self._count_ends(before, "by an event")
        return self._gap

    def take_snapshot(self, battle: Json) -> None:
        self._told.counts["snapshots"] += 1
        if battle["battle_id"] != self._id:
            self._told.wrong.append(f"the socket of {self._id} told of another battle: {battle['battle_id']}")
            return
        for turn in battle["turns"]:
            self._heard_of(turn["turn_id"])
        before = self.battle
        if before is None or battle["seq"] >= before["seq"]:
            self.battle = battle
            self._told.counts["gaps repaired"] += self._gap
            self._gap = False
            self._count_ends(before, "by a snapshot")

    def ended(self, turn_id: str) -> bool:
        turns = self.battle["turns"] if self.battle else []
        return any(turn["turn_id"] == turn_id and turn["status"] in ENDED for turn in turns)

    @property
    def waits(self) -> bool:
        """Whether a turn is open, so that news is due."""
        return bool(self.battle) and any(turn["status"] not in ENDED for turn in (self.battle or {})["turns"])

    def _count_ends(self, before: Json | None, how: str) -> None:
        known = {turn["turn_id"] for turn in before["turns"] if turn["status"] in ENDED} if before else set()
        for turn in (self.battle or {})["turns"]:
            self._told.counts[f"ends {how}"] += turn["status"] in ENDED and turn["turn_id"] not in known

    def _heard_of(self, turn_id: str | None) -> None:
        if turn_id:
            self._told.turns.add((self._id, turn_id))


class Watcher(threading.Thread):
    """One battle's page. `poll`: fetches the battle, (status, body); status 0 when nobody answered.

    It goes on until it is closed, or until it knows everything that `finish` names and nothing differs from a fresh
    snapshot.
    """

    def __init__(
        self, url: str, battle_id: str, cookie: str, names: tuple[str, ...], poll: Callable[[], tuple[int, Json]]
    ) -> None:
        super().__init__(daemon=True, name=f"page of {battle_id}")
        self.told = Told()
        self.view = View(battle_id, names, self.told)
        self._battle_id, self._cookie, self._poll = battle_id, cookie, poll
        self._origin = f"http://{urlsplit(url).netloc}"
        self._address = f"ws://{urlsplit(url).netloc}/ws/battles/{battle_id}/"
        self._over = threading.Event()
        self._asks = threading.Event()
        self._sent = False  # a turn, of which nothing was heard yet
        self._turn: str | None = None  # the one to know the end of
        self._voted = False
        self._missing, self._all = "its turn's end", False

    def sent(self) -> None:
        """A turn was sent: news is due, though the socket may have lost the first."""
        self._sent = True

    def learns(self, turn_id: str, seconds: float) -> bool:
        """Wait until it knows that the turn has ended; False when it was not told in time."""
        deadline = time.monotonic() + seconds
        while not self.view.ended(turn_id) and time.monotonic() < deadline:
            time.sleep(0.05)
        return self.view.ended(turn_id)

    def ask(self) -> None:
        """For a snapshot, as the page does after a vote."""
        self._asks.set()

    def finish(self, turn_id: str, *, voted: bool) -> None:
        """The visitor is done: nothing but these is left to be told."""
        self._voted = voted
        self._turn = turn_id

    def close(self) -> None:
        self._over.set()

    def end(self, deadline: float) -> None:
        """Wait until it was told everything, to this moment of the monotonic clock; who was not says so."""
        self.join(max(0.0, deadline - time.monotonic()))
        self.close()
        self.join(100)  # a call may be under way
        if not self._all:
            self.told.wrong.append(f"the socket of {self._battle_id} was never told {self._missing}")

    def run(self) -> None:
        retry, opened_before = FIRST_RETRY_S, False
        while not self._over.is_set():
            spoke = False
            try:
                with self._connect() as socket:
                    self.told.counts["reopened" if opened_before else "opened"] += 1
                    opened_before = True
                    spoke = self._follow(socket)
                self.told.counts["lost"] += not self._over.is_set()
            except (OSError, WebSocketException):  # a socket that is lost later ends `_follow`
                self.told.counts["did not open"] += 1
            retry = FIRST_RETRY_S if spoke else min(2 * retry, LONGEST_RETRY_S)
            if not self._over.wait(retry * random.uniform(0.75, 1.25)):
                self._poll_once()

    def _connect(self) -> reconnect:
        return connect(
            self._address,
            origin=Origin(self._origin),
            additional_headers={"Cookie": self._cookie},
            open_timeout=30,
            close_timeout=2,
            ping_interval=None,  # browsers send none
            max_size=LARGEST,
            proxy=None,
        )

    def _follow(self, socket: ClientConnection) -> bool:
        """Until the socket is lost or all is known; answers whether it said anything."""
        spoke, heard, asked = False, time.monotonic(), False
        while not self._over.is_set():
            try:
                text = socket.recv(timeout=TICK_S)
            except TimeoutError:
                if self._knows_all():
                    self._over.set()
                elif self._asks.is_set():
                    self._asks.clear()
                    self._ask(socket)
                elif (self.view.waits or self._sent) and time.monotonic() - heard > QUIET_S:
                    if asked:
                        self.told.counts["given up when quiet"] += 1
                        return spoke
                    self.told.counts["asked when quiet"] += 1
                    heard, asked = time.monotonic(), True
                    self._ask(socket)
            except ConnectionClosed as closed:
                if closed.rcvd is not None and closed.rcvd.code == REFUSED:
                    self.told.wrong.append(f"the socket of {self._battle_id} was refused to its own visitor")
                return spoke
            else:
                spoke, heard, asked, self._sent = True, time.monotonic(), False, False
                if self.view.take(str(text)):
                    self._ask(socket)
        return spoke

    @staticmethod
    def _ask(socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):  # the next `recv` says so
            socket.send('{"type": "snapshot"}')

    def _poll_once(self) -> None:
        status, battle = self._poll()
        if status == 200:
            self.told.counts["polls"] += 1
            self.view.take_snapshot(battle)
        elif status == 404:
            self.told.wrong.append(f"{self._battle_id} was not there for its own visitor")

    def _knows_all(self) -> bool:
        """Whether the page knows what `finish` named, and what it knows is what a fresh snapshot says."""
        known = self.view.battle
        if self._turn is None or known is None:
            return False
        if not self.view.ended(self._turn):
            return False
        if self._voted and known["vote"] is None:
            self._missing = "of its vote"
            return False
        status, fresh = self._poll()
        if status != 200 or fresh["seq"] != known["seq"]:
            self._missing = "what a fresh snapshot says"
            return False
        if fresh != known:
            self.told.wrong.append(f"the socket of {self._battle_id} told {known}; a snapshot says {fresh}")
        self.told.counts["told everything"] += 1
        self._all = True
        return True
