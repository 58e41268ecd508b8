"""Both sides of a turn are rendered alike: a worker that renders otherwise leaves a side to those that do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.conf import settings as site
from django.utils import timezone

from arena.models import Attempt, Battle, Hosting
from arena.queue import hosting, sweeps
from arena.queue.worker import Announcer
from arena.store import get_store
from robots import play
from robots.kind import probe_render_profile
from simulation.cameras import render_profile
from tests.arena.conftest import Visitor, battle_row, cast, play_battle, side_of
from tests.arena.test_hosting import ready
from tests.factories import PolicyFactory
from tests.fakes import FakeRuntime

OSMESA, EGL = "look-1 osmesa; llvmpipe; Mesa", "look-1 egl; NVIDIA H100; 4.6"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Messages to workers: (episode id, queue)."""
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, queue, **_: messages.append((args[0], queue)))
    return messages


@pytest.fixture
def two_runtimes(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A worker of each kind; the test says which of them takes a message."""
    runtimes = {profile: FakeRuntime(profile) for profile in (OSMESA, EGL)}

    def play_on(profile: str, episode_id: str) -> None:
        monkeypatch.setattr(play, "runtime", lambda: runtimes[profile])
        play.play(episode_id)

    return play_on


def host(worker: str, profile: str, *ids: str) -> None:
    for model_id in ids:
        Hosting.objects.create(worker=worker, contestant_id=model_id, render_profile=profile)


def test_the_first_side_says_what_renders_and_another_kind_of_worker_passes_the_other_side_on(
    visitor: Visitor, two_runtimes: Any, sent: list[tuple[str, str]]
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    two_runtimes(OSMESA, turn["left_episode_id"])
    assert battle_row(battle_id).render_profile == OSMESA
    sent.clear()
    two_runtimes(EGL, turn["right_episode_id"])
    right = side_of(battle_id, "right")
    assert (right.status, right.tries) == ("queued", 0)
    queue = hosting.queue_of(right.model_id, OSMESA)
    assert sent == [(turn["right_episode_id"], queue)]
    assert queue != hosting.queue_of(right.model_id, EGL)
    assert queue.startswith(hosting.queue_of(right.model_id))
    two_runtimes(OSMESA, turn["right_episode_id"])
    assert side_of(battle_id, "right").status == "completed"
    documents = [get_store().get(turn[f"{side}_episode_id"]) for side in ("left", "right")]
    assert [document and document["render_profile"] for document in documents] == [OSMESA, OSMESA]


def test_the_next_turn_of_a_battle_is_rendered_as_the_first(
    visitor: Visitor, two_runtimes: Any, sent: list[tuple[str, str]]
) -> None:
    battle_id = visitor.open()
    host("one", OSMESA, "alpha", "beta")
    host("two", EGL, "alpha", "beta")
    first = visitor.send(battle_id)
    for side in ("left", "right"):
        two_runtimes(battle_row(battle_id).render_profile, first[f"{side}_episode_id"])
    again = visitor.send(battle_id)
    kept = battle_row(battle_id).render_profile
    other = EGL if kept == OSMESA else OSMESA
    two_runtimes(other, again["left_episode_id"])
    assert side_of(battle_id, "left").status == "queued"
    two_runtimes(kept, again["left_episode_id"])
    assert side_of(battle_id, "left").status == "completed"


def test_a_side_that_nobody_can_render_alike_fails_as_not_hosted_instead_of_waiting(
    visitor: Visitor, two_runtimes: Any, sent: list[tuple[str, str]]
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    two_runtimes(OSMESA, turn["left_episode_id"])
    host("two", EGL, "alpha", "beta")
    Attempt.objects.update(sent_at=timezone.now() - timedelta(seconds=site.ROLLOUT_STALE_S + 1))
    sweeps.sweep()
    right = side_of(battle_id, "right")
    assert (right.status, right.termination_reason) == ("failed", "not_hosted")


def test_a_side_whose_message_was_lost_is_sent_again_while_somebody_renders_like_that(
    visitor: Visitor, two_runtimes: Any, sent: list[tuple[str, str]]
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    two_runtimes(OSMESA, turn["left_episode_id"])
    host("one", OSMESA, "alpha", "beta")
    host("two", EGL, "alpha", "beta")
    Attempt.objects.update(sent_at=timezone.now() - timedelta(seconds=site.ROLLOUT_STALE_S + 1))
    sent.clear()
    sweeps.sweep()
    assert [episode_id for episode_id, _ in sent] == [turn["right_episode_id"]]


def test_what_no_side_has_started_yet_can_be_rendered_by_any(visitor: Visitor) -> None:
    host("one", OSMESA, "alpha")
    host("two", EGL, "alpha")
    host("new", "", "beta")
    hosts = hosting.hosts()
    assert hosts.renders("alpha", "")
    assert hosts.renders("alpha", EGL)
    assert not hosts.renders("alpha", "look-1 glfw")
    assert hosts.renders("beta", EGL), "the worker has not said yet"
    assert hosts.renders("unheard-of", EGL)


def test_where_one_side_has_one_kind_of_worker_alone_the_turn_waits_for_that_kind(
    visitor: Visitor, two_runtimes: Any, sent: list[tuple[str, str]]
) -> None:
    battle_id = visitor.open()
    host("one", OSMESA, "alpha", "beta")
    host("two", EGL, "alpha")
    turn = visitor.send(battle_id)
    assert battle_row(battle_id).render_profile == OSMESA
    for side in ("left", "right"):
        two_runtimes(EGL, turn[f"{side}_episode_id"])
    assert set(Attempt.objects.values_list("status", flat=True)) == {"queued"}


def test_two_that_no_workers_render_alike_are_not_drawn_and_not_played(visitor: Visitor) -> None:
    PolicyFactory(id="gamma")
    battle_id = visitor.open()
    Battle.objects.update(left_model="alpha", right_model="beta")
    host("one", OSMESA, "alpha", "gamma")
    host("two", EGL, "beta", "gamma")
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"})
    assert (refused.status_code, refused.json()["code"]) == (503, "not_hosted")
    for _ in range(12):
        battle = battle_row(visitor.open())
        assert "gamma" in {battle.left_model_id, battle.right_model_id}


def test_a_battle_goes_on_when_what_rendered_it_is_gone(
    visitor: Visitor, two_runtimes: Any, runtime: FakeRuntime
) -> None:
    """As after an update of the library: both sides of the next turn are rendered by what there is now."""
    battle_id = play_battle(visitor)
    assert battle_row(battle_id).render_profile == runtime.render_profile
    host("two", EGL, "alpha", "beta")
    turn = visitor.send(battle_id)
    for side in ("left", "right"):
        two_runtimes(EGL, turn[f"{side}_episode_id"])
    assert battle_row(battle_id).render_profile == EGL
    assert visitor.battle(battle_id)["turns"][1]["status"] == "completed"


def test_with_the_vote_the_episode_tells_what_rendered_and_from_which_secret(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = play_battle(visitor)
    address = f"episodes/{side_of(battle_id, 'left').episode_id}"
    before = visitor.get(address).json()
    assert (before["render_profile"], before["secret"]) == (None, None)
    cast(visitor, battle_id)
    after = visitor.get(address).json()
    assert (after["render_profile"], after["secret"]) == ("fake", battle_row(battle_id).secret)


@pytest.mark.django_db
def test_a_worker_takes_the_rollouts_of_its_kind_once_it_knows_what_it_renders_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[tuple[str, str]] = []
    monkeypatch.setattr(hosting, "this", hosting.Worker("here"))
    monkeypatch.setattr(current_app.control, "add_consumer", lambda queue, destination: said.append(("add", queue)))
    monkeypatch.setattr(current_app.control, "cancel_consumer", lambda queue, destination: said.append(("-", queue)))
    ready("vla")
    announcer = Announcer()
    announcer.announce()
    hosting.this.render_profile = OSMESA
    announcer.announce()
    ready("late")
    announcer.announce()
    wanted = [("vla", ""), ("vla", OSMESA), ("late", ""), ("late", OSMESA)]
    assert said == [("add", hosting.queue_of(*each)) for each in wanted]
    assert set(Hosting.objects.values_list("render_profile", flat=True)) == {OSMESA}


def test_a_worker_finds_out_what_renders_in_its_processes() -> None:
    assert probe_render_profile() == render_profile()


def test_a_worker_on_which_nothing_renders_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "no such thing")
    assert probe_render_profile() == ""
    assert "The render profile of this worker could not be found" in caplog.text
