"""What a battle shows before its first instruction is what its first turn begins with, and is told to its visitor."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from arena import kinds
from arena.models import Battle, Contestant
from arena.queue import tending
from arena.queue.tending import Tender
from robots import play as episodes
from robots.first_state_maker import AT_ONCE, make_asked
from robots.models import FirstState
from robots.runtime import WorkerRuntime
from simulation.environment import Environment
from simulation.view_format import pack, unpack
from tests.arena.conftest import Visitor, play
from tests.factories import BattleFactory, PolicyFactory

SIDES = ("left", "right")
WORDS = "pick up the red cube"
NQ = 40


@pytest.fixture(scope="module")
def real_runtime() -> WorkerRuntime:
    return WorkerRuntime()


@pytest.fixture
def contestants(transactional_db: None) -> list[Any]:
    return [PolicyFactory(id="alpha", adapter="still"), PolicyFactory(id="beta", adapter="still")]


@pytest.fixture
def played_for_real(real_runtime: WorkerRuntime, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[None]:
    settings.ROLLOUT_MAX_STEPS = 2
    monkeypatch.setattr(episodes, "runtime", lambda: real_runtime)
    yield
    for policy in ("alpha", "beta"):
        real_runtime.cache.drop(policy)


def start_of(visitor: Visitor, battle_id: str) -> bytes | None:
    answer = visitor.get(f"battles/{battle_id}/start")
    assert answer.status_code == 200, answer.content
    told = answer.json()
    assert set(told) == {"battle_id", "start", "left_out"}
    return None if told["start"] is None else base64.b64decode(told["start"])


@pytest.mark.usefixtures("played_for_real")
def test_what_is_shown_before_the_first_instruction_is_what_both_sides_begin_with(visitor: Visitor) -> None:
    battle_id = visitor.open()
    assert start_of(visitor, battle_id) is None
    make_asked()
    start = start_of(visitor, battle_id)
    assert start is not None
    turn = visitor.send(battle_id, WORDS)
    play(turn)
    for side in SIDES:
        seen = visitor.get(f"episodes/{turn[f'{side}_episode_id']}/view.bin").content
        assert seen[: len(start)] == start
    assert start_of(visitor, battle_id) == start


@pytest.mark.usefixtures("played_for_real")
def test_of_several_starts_the_first_is_shown(visitor: Visitor) -> None:
    battle_id = visitor.open()
    assert start_of(visitor, battle_id) is None
    make_asked()
    start = start_of(visitor, battle_id)
    assert start is not None
    turn = visitor.send(battle_id, WORDS, starts=3)
    play(turn)
    seen = visitor.get(f"episodes/{turn['left_episode_id']}/view.bin").content
    assert seen[: len(start)] == start


def test_it_is_null_until_a_worker_has_made_it_and_then_one_row_for_every_seed(visitor: Visitor) -> None:
    opened = [visitor.open() for _ in range(3)]
    assert [start_of(visitor, battle_id) for battle_id in opened] == [None] * 3
    assert make_asked() == 3
    assert make_asked() == 0
    world = Environment().world
    rows = []
    for battle_id in opened:
        start = start_of(visitor, battle_id)
        seed = Battle.objects.get(battle_id=battle_id).seed
        assert start == pack(Environment().reset(seed).qpos[np.newaxis], world.view_scale)
        rows.append(start)
    assert [unpack(row, NQ).shape for row in rows] == [(1, NQ)] * 3
    assert len(set(rows)) == 3


def test_it_follows_from_the_seed_alone_whoever_plays_on_which_side(visitor: Visitor) -> None:
    opened = [visitor.open(), visitor.open()]
    for battle_id, (left, right) in zip(opened, (("alpha", "beta"), ("beta", "alpha")), strict=True):
        Battle.objects.filter(battle_id=battle_id).update(seed=11, left_model=left, right_model=right)
        start_of(visitor, battle_id)
    make_asked()
    one, other = (visitor.get(f"battles/{battle_id}/start") for battle_id in opened)
    assert one.json()["start"] == other.json()["start"]
    assert len(one.content) == len(other.content)
    for battle_id, seen in zip(opened, (one, other), strict=True):
        battle = Battle.objects.get(battle_id=battle_id)
        for hidden in (battle.secret, "alpha", "beta", str(battle.purpose)):
            assert hidden not in seen.content.decode()


def test_only_the_visitor_whose_battle_it_is_is_told(visitor: Visitor) -> None:
    battle_id = visitor.open()
    stranger = Visitor()
    stranger.open()
    assert stranger.get(f"battles/{battle_id}/start").status_code == 404
    assert visitor.get("battles/battle_nowhere/start").status_code == 404


def test_a_kind_without_first_states_says_which_kind_has_them(visitor: Visitor) -> None:
    for name in ("heads", "tails"):
        Contestant.objects.create(id=name, kind="coin", family=name, name=name)
    coin = visitor.post("sessions/init", {"kind": "coin"}).json()["battle_id"]
    refused = visitor.get(f"battles/{coin}/start")
    assert (refused.status_code, refused.json()["code"]) == (422, "other_kind")


@pytest.mark.django_db(transaction=True)
def test_a_burst_is_made_in_the_order_in_which_it_came() -> None:
    for _ in range(AT_ONCE + 2):
        FirstState.objects.create(battle=BattleFactory())
    assert [make_asked(), make_asked(), make_asked()] == [AT_ONCE, 2, 0]


@pytest.mark.django_db(transaction=True)
def test_a_scene_that_there_is_no_more_stops_no_other(visitor: Visitor) -> None:
    gone, fine = visitor.open(), visitor.open()
    battle = Battle.objects.select_related("session").get(battle_id=gone)
    battle.session.scene = "garden"
    battle.session.save()
    assert [start_of(visitor, battle_id) for battle_id in (gone, fine)] == [None, None]
    assert make_asked() == 2
    assert start_of(visitor, gone) is None
    assert start_of(visitor, fine) is not None
    assert make_asked() == 0


class Kind:
    """A kind that says when it tended, and fails at first."""

    offered = True

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.tended = threading.Event()

    def tend(self) -> None:
        self.failures -= 1
        if self.failures >= 0:
            raise RuntimeError("no physics here")
        self.tended.set()


def test_a_kind_that_could_not_tend_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind(failures=2)
    monkeypatch.setattr(kinds, "every", lambda: [kind])
    monkeypatch.setattr(tending, "AFTER_TROUBLE_S", 0.01)
    tender = Tender()
    tender.start()
    try:
        assert kind.tended.wait(10)
    finally:
        tender.stop()
