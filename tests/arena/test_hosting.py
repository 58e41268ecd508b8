"""Workers say which policies they play: who has no worker is not drawn, and who is asked all the same is told."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.conf import settings as site
from django.test import Client
from django.utils import timezone

from arena.models import HOST_SILENT_S, Attempt, ContestantStatus, Hosting
from arena.queue import dispatch, hosting, sweeps
from arena.queue.worker import Announcer
from policies.base import MissingFile
from policies.memory import OutOfMemory
from policies.models import Policy
from robots import play as episodes
from robots.runtime import note_trouble
from tests.arena.conftest import Visitor, battle_row, play, play_battle, side_of
from tests.factories import PolicyFactory
from tests.fakes import FakePolicy, FakeRuntime

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _this_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "this", hosting.Worker("here"))


def ready(*ids: str) -> None:
    """Contestants that need no weights."""
    for model_id in ids:
        PolicyFactory(id=model_id, adapter="still")


def host(worker: str, *ids: str, trouble: str = "", ago_s: float = 0.0) -> None:
    seen = timezone.now() - timedelta(seconds=ago_s)
    for model_id in ids:
        Hosting.objects.create(worker=worker, contestant_id=model_id, trouble=trouble, seen_at=seen)


@pytest.mark.parametrize(
    ("configured", "hosted"),
    [
        (["*"], {"film-a", "film-b", "octo", "vla"}),
        (["vla"], {"vla"}),
        (["film-*", "octo"], {"film-a", "film-b", "octo"}),
        (["*", "-vla"], {"film-a", "film-b", "octo"}),
        (["-film-*"], {"octo", "vla"}),
        (["nobody"], set()),
    ],
)
def test_a_worker_hosts_what_it_is_configured_to(settings: Any, configured: list[str], hosted: set[str]) -> None:
    ready("film-a", "film-b", "octo", "vla")
    settings.WORKER_POLICIES = configured
    assert {policy.id for policy in hosting.hosted()} == hosted
    assert hosting.announce() == hosted
    assert set(Hosting.objects.able().values_list("contestant_id", flat=True)) == hosted


def test_a_name_that_stands_for_no_policy_is_told(settings: Any) -> None:
    ready("vla")
    settings.WORKER_POLICIES = ["vla", "vls", "film-*", "-octo"]
    assert hosting.unknown_names() == ["vls", "film-*", "octo"]


def test_a_policy_without_weights_is_hosted_by_nobody() -> None:
    PolicyFactory(id="openvla-7b", adapter="openvla", status=ContestantStatus.UNAVAILABLE)
    ready("vla")
    assert hosting.announce() == {"vla"}


def test_each_policys_rollouts_go_to_a_queue_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, queue, **_: sent.append((args[0], queue)))
    dispatch.send_to_workers({"ep_1": "vla", "ep_2": "octo"})
    assert sent == [("ep_1", f"{site.PREFIX}rollouts.vla"), ("ep_2", f"{site.PREFIX}rollouts.octo")]


def test_while_no_worker_announces_anything_every_contestant_may_be_drawn(visitor: Visitor) -> None:
    host("gone", "alpha", ago_s=HOST_SILENT_S + 1)
    assert Policy.objects.contestants().playable().count() == 2
    visitor.send(visitor.open())


def test_a_policy_that_no_live_worker_can_play_is_never_drawn(visitor: Visitor) -> None:
    ready("far", "troubled", "lost")
    host("here", "alpha", "beta")
    host("here", "troubled", trouble="folder: gone")
    host("gone", "lost", ago_s=HOST_SILENT_S + 1)
    for _ in range(12):
        battle = battle_row(visitor.open())
        assert {battle.left_model_id, battle.right_model_id} == {"alpha", "beta"}


def test_a_policy_entered_after_the_workers_latest_word_may_be_drawn_until_one_says_that_it_cannot_play_it(
    visitor: Visitor,
) -> None:
    host("here", "alpha", ago_s=5)
    assert hosting.hosts().unhosted(["alpha", "beta"]) == []
    visitor.send(visitor.open())
    host("here", "beta", trouble="folder: gone")
    assert hosting.hosts().unhosted(["alpha", "beta"]) == ["beta"]


def test_with_one_hosted_policy_a_session_is_refused(visitor: Visitor) -> None:
    host("here", "alpha")
    assert visitor.post("sessions/init", {}).json()["code"] == "no_contestants"


def test_a_turn_of_a_battle_whose_policy_lost_its_worker_is_refused_without_saying_which(visitor: Visitor) -> None:
    battle_id = visitor.open()
    answers = []
    for left_out in ("alpha", "beta"):
        Hosting.objects.all().delete()
        host("here", *({"alpha", "beta"} - {left_out}))
        refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"})
        assert refused.status_code == 503
        assert refused["Retry-After"] == "5"
        answers.append(refused.json())
    assert answers[0] == answers[1]
    assert answers[0]["code"] == "not_hosted"
    assert not Attempt.objects.exists()


def test_a_rollout_whose_policy_lost_its_worker_while_it_waited_fails_with_that_reason(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    left, right = side_of(battle_id, "left"), side_of(battle_id, "right")
    host("here", right.model_id)
    Attempt.objects.update(sent_at=timezone.now() - timedelta(seconds=site.ROLLOUT_STALE_S + 1))
    sweeps.sweep()
    episodes.play(turn["right_episode_id"])
    shown = visitor.battle(battle_id)["turns"][0]
    assert (shown["status"], shown["left"]["error"], shown["right"]["error"]) == ("failed", "not_hosted", "not_hosted")
    assert left.model_id in side_of(battle_id, "left").error
    episodes.play(turn["left_episode_id"])
    assert side_of(battle_id, "left").status == "failed"


def test_a_policy_that_cannot_be_opened_here_is_left_to_a_worker_that_can(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    host("elsewhere", "alpha", "beta")
    host("here", "alpha", "beta")
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    broken = side_of(battle_id, "left").model_id
    runtime.policies[broken] = MissingFile("no weights on this machine")
    play(turn)
    left = side_of(battle_id, "left")
    assert (left.status, left.tries) == ("queued", 1)
    assert Policy.objects.get(id=broken).status == ContestantStatus.ACTIVE
    assert broken not in hosting.announce()
    runtime.policies = {}
    episodes.play(turn["left_episode_id"])
    assert side_of(battle_id, "left").status == "completed"


def test_where_no_other_worker_can_the_policy_becomes_unavailable_with_the_reason_and_the_worker_lives(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    broken = side_of(battle_id, "left").model_id
    runtime.policies[broken] = OutOfMemory("alpha needs 30.2 GB; cpu has 12.0 GB free")
    play(turn)
    policy = Policy.objects.get(id=broken)
    assert policy.status == ContestantStatus.UNAVAILABLE
    assert policy.status_reason == "memory: alpha needs 30.2 GB; cpu has 12.0 GB free"
    shown = visitor.battle(battle_id)["turns"][0]
    assert (shown["left"]["error"], shown["right"]["error"]) == ("turn_failed", "turn_failed")
    assert Client().get(f"/api/models/{broken}").json()["status_reason"] == policy.status_reason


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("[enforce fail] not enough memory: 30 GB")])
def test_a_policy_that_runs_out_of_memory_while_it_plays_is_unavailable_and_opened_anew(
    visitor: Visitor, runtime: FakeRuntime, error: Exception
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    greedy = side_of(battle_id, "left").model_id
    runtime.policies[greedy] = FakePolicy(raises=error)
    play(turn)
    assert side_of(battle_id, "left").status == "failed"
    assert side_of(battle_id, "right").status == "completed"
    assert Policy.objects.get(id=greedy).status_reason.startswith("memory: ran out of memory while it played")
    assert runtime.dropped == [greedy]


def test_an_error_that_is_no_want_of_memory_leaves_the_policy_active(visitor: Visitor, runtime: FakeRuntime) -> None:
    runtime.policies = {name: FakePolicy(raises=ValueError("broken")) for name in ("alpha", "beta")}
    play_battle(visitor)
    assert set(Policy.objects.values_list("status", flat=True)) == {ContestantStatus.ACTIVE}


def test_missing_weights_are_noted_with_the_line_that_installs_them() -> None:
    ready("vla")
    policy = Policy.objects.get(id="vla")
    note_trouble(policy, MissingFile("/weights: model.safetensors is missing"))
    assert Policy.objects.get(id="vla").status_reason == (
        "folder: /weights: model.safetensors is missing; install it: manage.py add_policy vla --weights PATH"
    )
    assert hosting.is_to_be_opened(policy)
    hosting.note_success(policy)
    assert Policy.objects.get(id="vla").status == ContestantStatus.ACTIVE
    assert not Hosting.objects.exclude(trouble="").exists()


def test_what_a_moderator_decided_is_not_undone_by_a_worker() -> None:
    ready("vla")
    policy = Policy.objects.get(id="vla")
    policy.mark_unavailable("Under review")
    note_trouble(policy, MissingFile("gone"))
    hosting.note_success(policy)
    assert Policy.objects.get(id="vla").status_reason == "Under review"
    assert not hosting.is_to_be_opened(policy)


def test_a_moderator_who_activates_a_policy_lets_every_worker_try_again() -> None:
    ready("vla")
    policy = Policy.objects.get(id="vla")
    note_trouble(policy, MissingFile("gone"))
    host("elsewhere", "vla")
    assert hosting.announce() == set()
    Policy.objects.get(id="vla").activate()
    assert hosting.announce() == {"vla"}


def test_a_worker_follows_the_registry_with_its_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, str]] = []
    control = current_app.control
    monkeypatch.setattr(control, "add_consumer", lambda queue, destination: said.append(("add", queue)))
    monkeypatch.setattr(control, "cancel_consumer", lambda queue, destination: said.append(("cancel", queue)))
    announcer = Announcer()
    ready("vla")
    announcer.announce()
    announcer.announce()
    ready("late")
    announcer.announce()
    note_trouble(Policy.objects.get(id="vla"), MissingFile("gone"))
    host("elsewhere", "vla")
    announcer.announce()
    queues = [(what, queue.removeprefix(site.PREFIX)) for what, queue in said]
    assert queues == [("add", "rollouts.vla"), ("add", "rollouts.late"), ("cancel", "rollouts.vla")]


def test_a_worker_that_ends_takes_its_word_back(settings: Any) -> None:
    ready("vla")
    host("elsewhere", "vla")
    hosting.announce()
    hosting.withdraw()
    assert list(Hosting.objects.values_list("worker", flat=True)) == ["elsewhere"]


def test_the_api_tells_which_models_are_hosted_and_nothing_while_nobody_announces() -> None:
    ready("far", "near")

    def hosted() -> dict[str, Any]:
        models = Client().get("/api/models").json()["results"]
        return {model["model_id"]: model["hosted"] for model in models}

    assert hosted() == {"far": None, "near": None}
    host("here", "near")
    assert hosted() == {"far": False, "near": True}
