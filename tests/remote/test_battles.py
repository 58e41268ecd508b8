"""In a battle a remote policy is a contestant like any other: nothing before the vote tells where it runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from arena.models import Attempt, AttemptStatus, ContestantStatus
from arena.store import get_store
from policies.models import Policy
from policies.remote import openpi as client
from robots import play as episodes
from robots.remote_policies import add_remote
from robots.runtime import WorkerRuntime, preload
from simulation import catalogue
from tests.arena.conftest import Visitor, cast, play
from tests.remote.servers import PolicyServer, answers, leaves, lingers, serving, status, still

SIDES = ("left", "right")


@pytest.fixture
def servers() -> Iterator[dict[str, PolicyServer]]:
    with serving(PolicyServer()) as one, serving(PolicyServer()) as other:
        yield {"one": one, "other": other}


@pytest.fixture
def visitor(transactional_db: None, servers: dict[str, PolicyServer], monkeypatch: pytest.MonkeyPatch) -> Visitor:
    runtime = WorkerRuntime()
    monkeypatch.setattr(episodes, "runtime", lambda: runtime)
    for name in ("CONNECT_S", "METADATA_S", "RESET_S"):
        monkeypatch.setattr(client, name, 0.5)
    for model_id, server in servers.items():
        add_remote(model_id, server.url, {"infer_s": 0.5}, {})
    return Visitor()


def played(visitor: Visitor, times: int = 1) -> tuple[str, dict[str, Attempt]]:
    battle_id = visitor.open()
    for _ in range(times):
        turn = visitor.send(battle_id)
        play(turn)
    return battle_id, {each.model_id: each for each in Attempt.objects.filter(turn_id=turn["turn_id"])}


def test_two_servers_play_and_each_gets_its_connection_back(visitor: Visitor, servers: dict[str, PolicyServer]) -> None:
    before = {name: server.connections for name, server in servers.items()}
    battle_id, attempts = played(visitor, times=2)
    for name, attempt in attempts.items():
        assert (attempt.status, attempt.length) == (AttemptStatus.COMPLETED, 50)
        document = get_store().get(attempt.episode_id)
        assert document is not None
        assert document["policy_revision"] == Policy.objects.get(id=name).revision
        # One connection to warm up with (it is opened for the first turn) and one for each turn.
        assert 3 <= servers[name].connections - before[name] <= 4
    cast(visitor, battle_id)
    seen = visitor.battle(battle_id)
    assert {seen[f"{side}_model"]["model_id"] for side in SIDES} == {"one", "other"}


def test_a_worker_opens_remote_policies_at_its_start(visitor: Visitor, servers: dict[str, PolicyServer]) -> None:
    servers["one"].answer = leaves
    preload(episodes.runtime(), list(Policy.objects.all()), [("widowx", "table")])
    assert {row.status for row in Policy.objects.all()} == {ContestantStatus.ACTIVE}
    assert catalogue.playable()


FAULTS: dict[str, Any] = {
    "leaves": ("policy_failed", lambda server: setattr(server, "answer", leaves)),
    "late": ("timeout", lambda server: setattr(server, "answer", lingers(0.8))),
    "lies": ("policy_failed", lambda server: setattr(server, "answer", answers(still(3)))),
    "complains": ("policy_failed", lambda server: setattr(server, "answer", lambda *_: "one: gpu-secret")),
    "refuses": ("policy_failed", lambda server: setattr(server, "refuse", status(503))),
    "is-another": ("policy_failed", lambda server: setattr(server, "metadata", {"arena_contract": {"chunk": 9}})),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_fails_loses_its_rollout_alone_and_is_not_named(
    fault: str, visitor: Visitor, servers: dict[str, PolicyServer]
) -> None:
    reason, spoil = FAULTS[fault]
    spoil(servers["one"])
    battle_id, attempts = played(visitor)
    failed, kept = attempts["one"], attempts["other"]
    assert (failed.status, failed.termination_reason) == (AttemptStatus.FAILED, reason)
    assert (kept.status, get_store().get(failed.episode_id)) == (AttemptStatus.COMPLETED, None)
    assert not re.search(r"\bone\b|gpu-secret|127\.0\.0\.1|ws:", failed.error or "")
    seen = visitor.battle(battle_id)
    assert [seen["turns"][0][side]["error"] for side in SIDES] == ["turn_failed"] * 2
    shown = json.dumps(seen)
    for secret in ("gpu-secret", "remote", "server", "websocket", str(servers["one"].port), '"one"'):
        assert secret not in shown
    assert Policy.objects.get(id="one").status == ContestantStatus.ACTIVE, "a board of all models would name it"


def test_after_a_failure_the_next_turn_connects_anew(visitor: Visitor, servers: dict[str, PolicyServer]) -> None:
    servers["one"].answer = leaves
    battle_id, _ = played(visitor)
    servers["one"].answer = answers(still(4))
    turn = visitor.send(battle_id)
    play(turn)
    assert {each.status for each in Attempt.objects.filter(turn_id=turn["turn_id"])} == {AttemptStatus.COMPLETED}


def test_the_shape_of_what_is_shown_is_that_of_a_local_policy(visitor: Visitor) -> None:
    """A remote policy beside the reference that holds still: both sides of the answer have the same keys and sizes."""
    Policy.objects.filter(id="other").update(adapter="still", family="film", model_path="", card={})
    battle_id, _ = played(visitor)
    turn = visitor.battle(battle_id)["turns"][0]
    assert turn["left"].keys() == turn["right"].keys()
    differing = {name for name in turn["left"] if turn["left"][name] != turn["right"][name]}
    assert differing <= {"episode_id", "episode_url", "states_url"}
