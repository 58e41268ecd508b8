"""Instructions about things that a battle's seed left out of its scene: refused, with what is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse

from arena.models import Attempt, Battle, Turn
from robots import play as episodes
from robots import things
from robots.first_state_maker import make_asked
from robots.models import FirstState
from robots.runtime import WorkerRuntime
from simulation import catalogue
from simulation.environment import Environment
from tests.arena.conftest import Visitor, cast, play
from tests.factories import PolicyFactory

SEED = 1


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


@pytest.fixture(autouse=True)
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(things, "WAIT_S", 0.0)
    catalogue.offer(["table", "workbench", "cabinet"])
    yield
    catalogue.offer(None)


def absent_and_there() -> tuple[list[str], list[str]]:
    """The nouns of what the seed left out of the workbench, and of what is on it."""
    environment = Environment("widowx", "workbench")
    environment.reset(SEED)
    left_out = environment.left_out()
    objects = [name for name, thing in catalogue.scene("workbench").things.items() if thing.kind == "object"]
    said = [[noun(name) for name in objects if (name in left_out) is absent] for absent in (True, False)]
    return said[0], said[1]


def noun(name: str) -> str:
    return catalogue.scene("workbench").things[name].nouns[0].text


def opened(visitor: Visitor, scene_id: str = "workbench", *, made: bool = True) -> str:
    """A battle whose first state a worker has made."""
    answer = visitor.post("sessions/init", {"scene_id": scene_id})
    assert answer.status_code == 201, answer.content
    battle_id: str = answer.json()["battle_id"]
    Battle.objects.filter(battle_id=battle_id).update(seed=SEED)
    if made:
        visitor.get(f"battles/{battle_id}/start")
        make_asked()
    return battle_id


def sent(visitor: Visitor, battle_id: str, instruction: str, **more: Any) -> HttpResponse:
    return visitor.post(f"battles/{battle_id}/turns", {"instruction": instruction, **more})


def test_what_is_not_there_is_refused_with_what_is_and_nothing_is_started(visitor: Visitor) -> None:
    absent, there = absent_and_there()
    battle_id = opened(visitor)
    refused = sent(visitor, battle_id, f"Please pick up the {absent[0].upper()}!")
    assert refused.status_code == 422
    assert refused.json() == {
        "code": "not_there",
        "detail": f"There is no {absent[0]} here. There are: {', '.join(there)}.",
        "missing": [absent[0]],
        "there": there,
    }
    assert not Turn.objects.exists()


def test_all_that_is_missing_is_named(visitor: Visitor) -> None:
    environment = Environment("widowx", "workbench")
    environment.reset(SEED)
    swaps = [
        slots for slots in catalogue.task("workbench_swap").slots if {*slots.values()} <= {*environment.left_out()}
    ]
    assert swaps, "this seed leaves out no two things that can be swapped"
    refused = sent(visitor, opened(visitor), catalogue.wording("workbench_swap", swaps[0]))
    assert refused.json()["missing"] == [noun(name) for name in swaps[0].values()]


def test_a_thing_that_only_the_goal_names_is_looked_for_too() -> None:
    said = catalogue.task_for("put all the cubes on the left plate", "table")
    assert said is not None
    assert set(catalogue.things_of(said)) == {"left_plate", "red_cube", "yellow_cube"}


@pytest.mark.parametrize("place", ["there", "free", "plate"])
def test_what_is_there_and_what_is_free_text_is_played(visitor: Visitor, place: str) -> None:
    absent, there = absent_and_there()
    said = {
        "there": f"pick up the {there[0]}",
        "free": f"sing about the {absent[0]}",
        "plate": "look at the left plate",
    }
    assert sent(visitor, opened(visitor), said[place]).status_code == 202


def test_the_start_tells_what_is_left_out_and_a_scene_with_all_its_things_tells_nothing(visitor: Visitor) -> None:
    environment = Environment("widowx", "workbench")
    environment.reset(SEED)
    battle_id = opened(visitor, made=False)
    assert visitor.get(f"battles/{battle_id}/start").json()["left_out"] is None
    make_asked()
    assert visitor.get(f"battles/{battle_id}/start").json()["left_out"] == list(environment.left_out())
    table = opened(visitor, "table")
    assert visitor.get(f"battles/{table}/start").json()["left_out"] == []


def test_on_the_table_nothing_is_asked_of_a_worker_before_a_turn(visitor: Visitor) -> None:
    battle_id = opened(visitor, "table", made=False)
    assert sent(visitor, battle_id, "pick up the red cube").status_code == 202
    assert not FirstState.objects.exists()


def test_one_thing_from_several_starts_is_refused_because_others_may_lack_it(visitor: Visitor) -> None:
    _, there = absent_and_there()
    refused = sent(visitor, opened(visitor), f"pick up the {there[0]}", starts=3)
    assert (refused.status_code, refused.json()["code"]) == (422, "other_things")
    assert sent(visitor, opened(visitor, "cabinet"), "open the top drawer", starts=3).status_code == 202


@pytest.mark.usefixtures("played_for_real")
def test_while_no_worker_has_told_what_is_there_it_is_played_without_a_verdict_for_either_side(
    visitor: Visitor,
) -> None:
    absent, there = absent_and_there()
    for name, judged in ((absent[0], False), (there[0], True)):
        battle_id = opened(visitor, made=False)
        turn = sent(visitor, battle_id, f"pick up the {name}")
        assert turn.status_code == 202, turn.content
        play(turn.json())
        sides = Attempt.objects.filter(turn__battle__battle_id=battle_id)
        assert [side.status for side in sides] == ["completed"] * 2
        assert [side.success is not None for side in sides] == [judged] * 2
        cast(visitor, battle_id)
        seen = visitor.battle(battle_id)["turns"][0]
        assert [seen[side]["outcome"]["success"] is not None for side in ("left", "right")] == [judged] * 2


@pytest.mark.usefixtures("played_for_real")
def test_a_later_turn_of_the_battle_is_refused_as_the_first_one(visitor: Visitor) -> None:
    absent, there = absent_and_there()
    battle_id = opened(visitor)
    play(sent(visitor, battle_id, f"pick up the {there[0]}").json())
    assert sent(visitor, battle_id, f"pick up the {absent[0]}").json()["code"] == "not_there"
