"""Real physics, real pictures and the two references, from the worker's entry to the stored episode."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from arena.models import Attempt, Battle, ContestantStatus
from arena.queue import worker
from arena.store import get_store
from policies.base import PolicyError
from policies.models import Policy
from policies.policy_cache import Lease
from policies.registry import families
from robots import play as episodes
from robots.runtime import WorkerRuntime, preload
from simulation.verification import verify_document
from tests.arena.conftest import Visitor, battle_row, cast, play, side_of
from tests.factories import PolicyFactory

STACK = "stack the red cube on the yellow cube"


@pytest.fixture(scope="module")
def real_runtime() -> WorkerRuntime:
    return WorkerRuntime()


@pytest.fixture
def live_runtime(real_runtime: WorkerRuntime, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerRuntime]:
    monkeypatch.setattr(episodes, "runtime", lambda: real_runtime)
    yield real_runtime
    for policy in Policy.objects.all():
        real_runtime.drop(policy)


@pytest.fixture
def contestants(transactional_db: None) -> list[Policy]:
    return [PolicyFactory(id="expert", adapter="expert"), PolicyFactory(id="still", adapter="still")]


def open_with_known_start(visitor: Visitor) -> str:
    """Open a battle whose start the expert is known to stack from: from one of a hundred it does not."""
    battle_id = visitor.open()
    assert Battle.objects.filter(battle_id=battle_id).update(seed=1) == 1
    return battle_id


def test_the_expert_beats_the_one_that_does_nothing_and_every_bit_of_both_can_be_verified(
    visitor: Visitor, live_runtime: WorkerRuntime
) -> None:
    battle_id = open_with_known_start(visitor)
    turn = visitor.send(battle_id, STACK)
    play(turn)
    assert visitor.get(f"turns/{turn['turn_id']}").json()["status"] == "completed"
    by_policy = {rollout.model_id: rollout for rollout in Attempt.objects.all()}
    assert by_policy["expert"].success
    assert by_policy["expert"].length < 50
    assert not by_policy["still"].success
    assert (by_policy["still"].length, by_policy["still"].termination_reason) == (50, "step_limit")
    assert by_policy["expert"].rollout.start_hash == by_policy["still"].rollout.start_hash
    for rollout in by_policy.values():
        document = get_store().get(rollout.episode_id)
        assert document is not None
        assert document["model_id"] == rollout.model_id
        assert verify_document(document) is None


def test_a_follow_up_goes_on_bit_for_bit_and_what_the_browser_fetches_is_small(
    visitor: Visitor, live_runtime: WorkerRuntime
) -> None:
    battle_id = visitor.open()
    play(visitor.send(battle_id, STACK))
    ended = {side: get_store().get(side_of(battle_id, side).episode_id) for side in ("left", "right")}
    play(visitor.send(battle_id, "put the red cube on the left plate"))
    cast(visitor, battle_id)
    for side, before in ended.items():
        after = get_store().get(side_of(battle_id, side).episode_id)
        assert before is not None
        assert after is not None
        for name in ("states", "qacc_warmstart", "control"):
            assert after[name][0] == before[name][-1]
        assert verify_document(after) is None
        states = visitor.get(f"episodes/{after['_id']}/states.bin", **{"Accept-Encoding": "gzip"})
        assert len(states.content) < 13_000


def test_a_workers_process_opens_every_contestant_before_its_first_rollout(
    contestants: list[Policy], live_runtime: WorkerRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    warm_up = live_runtime.warm_up

    def noted(policy: Policy, *place: str) -> None:
        opened.append(policy.id)
        warm_up(policy, *place)

    monkeypatch.setattr(live_runtime, "warm_up", noted)
    worker.preload()
    assert list(dict.fromkeys(opened)) == ["expert", "still"]


def test_a_policys_weights_stay_open_between_rollouts_until_there_is_another_revision(
    transactional_db: None, live_runtime: WorkerRuntime, settings: Any
) -> None:
    call_command("seed_policies", verbosity=0)
    policy = Policy.objects.get(id="film-small")

    def opened() -> Any:
        player = live_runtime.player(policy, "widowx", "table")
        player.close()
        return typing.cast(Lease, player.policy).opened

    first = opened()
    assert opened() is first
    policy.revision = "another"
    assert opened() is not first


def test_a_contestant_that_cannot_be_opened_is_marked_unavailable_with_the_reason(
    contestants: list[Policy], live_runtime: WorkerRuntime
) -> None:
    PolicyFactory(id="broken", adapter="film", model_path="/nowhere")
    with pytest.raises(PolicyError):
        live_runtime.player(Policy.objects.get(id="broken"), "widowx", "table")
    preload(live_runtime, list(Policy.objects.contestants()), [("widowx", "table")])
    broken = Policy.objects.get(id="broken")
    assert broken.status == ContestantStatus.UNAVAILABLE
    assert "/nowhere: no such directory" in broken.status_reason


def test_the_shipped_contestants_play_a_turn(visitor: Visitor, live_runtime: WorkerRuntime) -> None:
    episodes_before = get_store().count()
    Policy.objects.all().delete()
    call_command("seed_policies", verbosity=0)
    battle_id = visitor.open()
    play(visitor.send(battle_id, STACK))
    battle = battle_row(battle_id)
    assert {battle.left_model.family, battle.right_model.family} <= set(families)
    assert visitor.battle(battle_id)["turns"][0]["status"] == "completed"
    assert get_store().count() == episodes_before + 2


def test_a_fork_with_a_thing_moved_and_another_policy_is_verified_and_both_sides_see_it_there(
    visitor: Visitor, live_runtime: WorkerRuntime
) -> None:
    battle_id = open_with_known_start(visitor)
    first = visitor.send(battle_id, STACK)
    play(first)
    cast(visitor, battle_id)
    wish = {"turn_id": first["turn_id"], "record": 0, "moved": {"red_cube": [0.25, -0.1, 0.5]}, "instruction": STACK}
    wish |= {f"{side}_model_id": "expert" for side in ("left", "right")}
    sent = visitor.post(f"battles/{battle_id}/explorations", wish)
    assert sent.status_code == 202, sent.content
    play(sent.json())
    first_document, *documents = (
        get_store().get(turn[f"{side}_episode_id"])
        for turn, side in ((first, "left"), (sent.json(), "left"), (sent.json(), "right"))
    )
    assert first_document is not None
    red = live_runtime.environment("widowx", "table").model.joint("red_cube").qposadr[0]
    for document in documents:
        assert document is not None
        assert document["model_id"] == "expert"
        assert document["states"][0]["qpos"][red : red + 2] == [0.25, -0.1]
        assert document["states"][0]["qpos"][red + 2] == first_document["states"][0]["qpos"][red + 2]
        assert document["success"]
        assert verify_document(document) is None
    assert documents[0]["start_hash"] == documents[1]["start_hash"]  # type: ignore[index]
