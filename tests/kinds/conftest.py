"""Every registered kind as these tests see it: a pair of contestants that differ in all, and who plays their turns.

A kind without an entry in HOUSES fails here: what holds for one kind is to hold for all.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from django.db import connection

from arena import kinds
from arena.kinds import Kind
from arena.models import Battle, Contestant, Turn
from arena.queue import playing
from robots import play as episodes
from tests.arena.conftest import Visitor, _own_channel_layer, default_clock
from tests.factories import PolicyFactory, TextModelFactory
from tests.fakes import FakePolicy, FakeRuntime
from tests.texts.servers import scripted_server
from tests.voice.battles import agents, call_both, turn_on

__all__ = ["_own_channel_layer", "default_clock"]
Json = dict[str, Any]
SIDES = ("left", "right")


@dataclass
class House:
    """A kind, two of its contestants, and what plays a sent turn where nobody else does."""

    kind: Kind
    pair: tuple[Contestant, Contestant]
    work: Callable[[Json], None] = lambda turn: None
    begin: Callable[[str], None] = lambda battle_id: None
    """What comes between opening a battle and its first instruction."""

    def open(self, visitor: Visitor, left: Contestant | None = None, right: Contestant | None = None) -> str:
        """A battle between these two, of whose start nothing is left to chance; answers its id."""
        opened = visitor.post("sessions/init", {"kind": self.kind.id})
        assert opened.status_code == 201, opened.content
        battle_id = str(opened.json()["battle_id"])
        pair = {"left_model": left or self.pair[0], "right_model": right or self.pair[1]}
        Battle.objects.filter(battle_id=battle_id).update(seed=7, secret="0" * 32, **pair)
        self.begin(battle_id)
        return battle_id

    def play(self, turn: Json) -> None:
        """Until both sides of the turn have settled."""
        self.work(turn)
        deadline = time.monotonic() + 20
        while Turn.objects.filter(turn_id=turn["turn_id"], settled_at=None).exists():
            assert time.monotonic() < deadline, "the turn did not settle: the log says what was not played, and why"
            time.sleep(0.02)


def robots(monkeypatch: pytest.MonkeyPatch) -> House:
    runtime = FakeRuntime()
    monkeypatch.setattr(episodes, "runtime", lambda: runtime)
    quick = PolicyFactory(id="quick-one", name="Quick", provenance="In a garage")
    slow = PolicyFactory(id="the-slow-one", name="Slow and famous", family="openvla", adapter="openvla")
    runtime.policies = {quick.id: FakePolicy(answer=np.array([[0.010, 0.004, 0, 0, 0, 0, 1.0]]))}
    runtime.policies[slow.id] = FakePolicy(answer=np.array([[-0.021, 0.011, 0.003, 0, 0, 0, 0.37]]), pause_s=0.05)
    runtime.success_at = {quick.id: 3, slow.id: 8}
    return House(kinds.get("robots"), (quick, slow), in_threads(episodes.play))


def echo(monkeypatch: pytest.MonkeyPatch) -> House:
    return played_for_real("echo", "repeats", "reverses")


def coin(monkeypatch: pytest.MonkeyPatch) -> House:
    return played_for_real("coin", "heads", "tails")


def played_for_real(kind: str, *families: str) -> House:
    """By threads of the process that takes the turn."""
    one, other = (
        Contestant.objects.create(id=f"{kind}-{family}", kind=kind, family=family, name=f"The {kind} that {family}")
        for family in families
    )
    return House(kinds.get(kind), (one, other))


def text(monkeypatch: pytest.MonkeyPatch) -> House:
    """Played as a worker plays them, by a server that knows nothing of the arena."""
    server = _open.enter_context(scripted_server())
    quick = TextModelFactory(id="swift-one", name="Swift", base_url=server.url, served_name="quick")
    slow = TextModelFactory(id="the-famous-one", name="Slow and famous", base_url=server.url, served_name="stutters")
    return House(kinds.get("text"), (quick, slow), in_threads(kinds.get("text").play))


def voice(monkeypatch: pytest.MonkeyPatch) -> House:
    """Both agents are called by script before the turn is sent, as quickly as it can be computed."""
    turn_on(monkeypatch)
    return House(kinds.get("voice"), agents(), begin=call_both)


def in_threads(play: Callable[[str], None]) -> Callable[[Json], None]:
    """Plays both sides of a turn side by side."""

    def side(episode_id: str) -> None:
        play(episode_id)
        connection.close()

    def work(turn: Json) -> None:
        both = [threading.Thread(target=side, args=(turn[f"{name}_episode_id"],)) for name in SIDES]
        for each in both:
            each.start()
        for each in both:
            each.join()

    return work


HOUSES: dict[str, Callable[[pytest.MonkeyPatch], House]] = {
    "robots": robots,
    "text": text,
    "voice": voice,
    "echo": echo,
    "coin": coin,
}
_open = ExitStack()
"""What houses opened and the end of their test closes."""


@pytest.fixture(autouse=True)
def _nothing_is_played_on(request: pytest.FixtureRequest) -> Iterator[None]:
    """Threads of this process end before the database is emptied, which waits for them and they for it."""
    if "transactional_db" in request.fixturenames:
        request.getfixturevalue("transactional_db")
    yield
    playing._threads(os.getpid()).shutdown(wait=True)
    playing._threads.cache_clear()
    _open.close()


@pytest.fixture(params=[kind.id for kind in kinds.every()])
def house(request: pytest.FixtureRequest, transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> House:
    assert request.param in HOUSES, f"{request.param} has no entry in HOUSES of {__file__}, which has {list(HOUSES)}"
    return HOUSES[request.param](monkeypatch)


@pytest.fixture
def echoes(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> House:
    return echo(monkeypatch)


@pytest.fixture
def visitor(transactional_db: None) -> Visitor:
    return Visitor()
