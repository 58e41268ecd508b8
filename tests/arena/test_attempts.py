"""Every rollout is played once, by one worker, and settles whatever becomes of that worker."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import connection
from django.utils import timezone

from arena import actions
from arena.models import Attempt, AttemptStatus
from arena.queue import sweeps
from arena.store import get_store
from policies.base import PolicyError
from robots import play as episodes
from robots.progress import AttemptGivenUp, Reporter
from simulation.contracts import CONTROL_HZ, Limits, Observation
from tests.arena.conftest import Visitor, battle_row, play, side_of
from tests.fakes import VIEW_SCALE, FakePolicy, FakeRuntime


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The episode ids that were put on the queue, in order."""
    messages: list[str] = []
    monkeypatch.setattr("arena.queue.dispatch.send_to_workers", messages.extend)
    return messages


def lose(rollout: Attempt, **columns: Any) -> None:
    """Let a rollout look as if its worker had been silent for long."""
    long_ago = timezone.now() - timedelta(seconds=settings.ROLLOUT_STALE_S + 1)
    Attempt.objects.filter(pk=rollout.pk, status="held").update(status="queued")
    Attempt.objects.filter(pk=rollout.pk).update(heartbeat_at=long_ago, sent_at=long_ago, **columns)


def test_a_message_delivered_twice_plays_once(visitor: Visitor, runtime: FakeRuntime) -> None:
    turn = visitor.send(visitor.open())
    policy = runtime.policies.setdefault(side_of_turn(turn, "left").model_id, FakePolicy())
    for _ in range(3):
        episodes.play(turn["left_episode_id"])
    assert isinstance(policy, FakePolicy)
    assert len(policy.resets) == 1
    assert side_of_turn(turn, "left").tries == 1


def side_of_turn(turn: dict[str, Any], side: str) -> Attempt:
    return Attempt.objects.select_related("turn__battle").get(episode_id=turn[f"{side}_episode_id"])


def test_of_many_workers_that_claim_at_once_one_gets_it(visitor: Visitor) -> None:
    turn = visitor.send(visitor.open())
    got: list[bool] = []

    def claim() -> None:
        got.append(actions.claim_attempt(turn["left_episode_id"], "worker") is not None)
        connection.close()

    workers = [threading.Thread(target=claim) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(got) == [False] * 5 + [True]


def test_a_message_for_a_rollout_that_is_gone_does_nothing(visitor: Visitor, runtime: FakeRuntime) -> None:
    episodes.play("ep_" + "0" * 32)


def test_a_silent_workers_rollout_is_played_again_once_and_then_failed(visitor: Visitor, sent: list[str]) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    left, right = turn["left_episode_id"], turn["right_episode_id"]
    sent.clear()
    for attempt in (1, 2):
        assert actions.claim_attempt(left, f"lost {attempt}") is not None
        lose(side_of_turn(turn, "left"))
        sweeps.sweep()
        assert side_of_turn(turn, "left").tries == attempt
    assert sent == [left]
    failed = side_of_turn(turn, "left")
    assert (failed.status, failed.termination_reason) == (AttemptStatus.FAILED, "worker_lost")
    assert side_of_turn(turn, "right").status == AttemptStatus.QUEUED
    assert (
        visitor.battle(battle_id)["turns"][0]["left"]["status"] == "queued"
    )  # nothing told while the other side plays
    assert actions.claim_attempt(right, "worker") is not None


def test_a_lost_rollout_completes_on_its_second_attempt_and_the_other_side_goes_on(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    turn = visitor.send(visitor.open())
    actions.claim_attempt(turn["left_episode_id"], "lost")
    episodes.play(turn["right_episode_id"])
    assert side_of_turn(turn, "right").status == AttemptStatus.COMPLETED
    lose(side_of_turn(turn, "left"))
    sweeps.sweep()
    episodes.play(turn["left_episode_id"])
    assert side_of_turn(turn, "left").tries == 2
    assert visitor.get(f"turns/{turn['turn_id']}").json()["status"] == "completed"


def test_a_worker_of_this_host_that_has_died_is_noticed_at_once(visitor: Visitor, sent: list[str]) -> None:
    turn = visitor.send(visitor.open())
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    host = sweeps.worker_name().rpartition(":")[0]
    actions.claim_attempt(turn["left_episode_id"], f"{host}:{process.pid}")
    actions.claim_attempt(turn["right_episode_id"], f"{host}:{os.getpid()}")
    assert sweeps.sweep() == 1
    assert side_of_turn(turn, "left").status == AttemptStatus.QUEUED
    assert side_of_turn(turn, "right").status == AttemptStatus.RUNNING


def test_workers_of_other_hosts_are_judged_by_their_heartbeat_alone(visitor: Visitor) -> None:
    turn = visitor.send(visitor.open())
    actions.claim_attempt(turn["left_episode_id"], "another-host:1")
    assert sweeps.sweep() == 0


def test_a_lost_message_is_sent_again(visitor: Visitor, sent: list[str]) -> None:
    turn = visitor.send(visitor.open())
    sent.clear()
    assert sweeps.sweep() == 0
    for side in ("left", "right"):
        lose(side_of_turn(turn, side))
    sweeps.sweep()
    assert sorted(sent) == sorted([turn["left_episode_id"], turn["right_episode_id"]])
    sent.clear()
    sweeps.sweep()
    assert sent == []  # the wait begins anew with every message


def test_what_a_given_up_attempt_says_later_is_ignored(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    old = actions.claim_attempt(turn["left_episode_id"], "slow")
    assert old is not None
    lose(old)
    sweeps.sweep()
    outcome = actions.Ending(9, "success", 1.0, True, 1.0)
    assert not actions.report_progress(old, 5)
    assert not actions.finish_attempt(old, outcome)
    assert not actions.fail_attempt(old, "internal", "late")
    play(turn)
    assert not actions.finish_attempt(old, outcome)
    new = side_of_turn(turn, "left")
    assert (new.tries, new.length, new.success) == (2, 50, False)
    document = get_store().get(new.episode_id)
    assert document is not None
    assert document["attempt"] == 2


def test_a_late_attempt_does_not_overwrite_the_episode_of_the_new_one(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = visitor.send(visitor.open())
    left = turn["left_episode_id"]
    save, taken_over = get_store().save, []

    def overtaken(document: dict[str, Any]) -> None:
        if not taken_over:
            taken_over.append(True)
            lose(side_of_turn(turn, "left"))
            sweeps.sweep()
            episodes.play(left)
        save(document)

    monkeypatch.setattr(get_store(), "save", overtaken)
    episodes.play(left)
    document = get_store().get(left)
    assert document is not None
    assert document["attempt"] == 2
    assert (side_of_turn(turn, "left").status, side_of_turn(turn, "left").tries) == ("completed", 2)


class Slow(FakePolicy):
    """Gives its own rollout up in the middle, as a sweep would when the worker hangs."""

    episode_id = ""
    played = 0

    def infer(self, observation: Observation) -> Any:
        self.played += 1
        if self.played == 3:
            Attempt.objects.filter(episode_id=self.episode_id).update(status=AttemptStatus.QUEUED)
            time.sleep(0.6)
        return super().infer(observation)


def test_an_attempt_stops_when_it_learns_that_it_was_given_up(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robots.progress.HEARTBEAT_S", 0.2)
    turn = visitor.send(visitor.open())
    slow = Slow()
    slow.episode_id = turn["left_episode_id"]
    runtime.policies = {side_of_turn(turn, "left").model_id: slow}
    episodes.play(slow.episode_id)
    assert slow.played < 10
    assert side_of_turn(turn, "left").status == AttemptStatus.QUEUED


def test_a_long_thought_does_not_look_like_a_dead_worker(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robots.progress.HEARTBEAT_S", 0.3)
    turn = visitor.send(visitor.open())
    rollout = actions.claim_attempt(turn["left_episode_id"], "thinking")
    assert rollout is not None
    with Reporter(rollout, VIEW_SCALE, CONTROL_HZ):
        lose(rollout)
        time.sleep(0.8)
        assert sweeps.sweep() == 0
    heartbeat = side_of_turn(turn, "left").heartbeat_at
    assert heartbeat is not None
    assert timezone.now() - heartbeat < timedelta(seconds=1)


def test_an_attempt_that_fails_after_it_was_given_up_says_that_and_not_its_failure(visitor: Visitor) -> None:
    turn = visitor.send(visitor.open())
    rollout = actions.claim_attempt(turn["left_episode_id"], "worker")
    assert rollout is not None
    actions.give_up_attempt(rollout)
    with pytest.raises(AttemptGivenUp), Reporter(rollout, VIEW_SCALE, CONTROL_HZ):
        raise ValueError("of no interest any more")


def test_an_end_that_comes_after_the_attempt_was_given_up_changes_nothing(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    turn = visitor.send(visitor.open())
    finish = actions.finish_attempt

    def late(rollout: Attempt, *ending: Any) -> bool:
        actions.give_up_attempt(rollout)
        return finish(rollout, *ending)

    monkeypatch.setattr(actions, "finish_attempt", late)
    episodes.play(turn["left_episode_id"])
    assert side_of_turn(turn, "left").status == AttemptStatus.QUEUED
    assert "attempt 1 was given up before its end" in caplog.text


def test_a_message_is_not_sent_again_while_rollouts_before_it_are_being_taken(
    visitor: Visitor, sent: list[str], contestants: list[Any]
) -> None:
    """The line is long then, and messages for those who stand in it would make it longer."""
    first, second = visitor.send(visitor.open()), visitor.send(visitor.open())
    before = Attempt.objects.get(episode_id=first["left_episode_id"])
    waiting = Attempt.objects.filter(turn__turn_id=second["turn_id"])
    behind, other = waiting.get(model_id=before.model_id), waiting.exclude(model_id=before.model_id).get()
    assert actions.claim_attempt(before.episode_id, "another-host:1") is not None
    sent.clear()
    for rollout in (behind, other):
        lose(rollout)
    sweeps.sweep()
    assert sent == [other.episode_id]  # nobody takes the other policy's
    sent.clear()
    lose(behind)
    actions.finish_attempt(Attempt.objects.get(pk=before.pk), actions.Ending(9, "success", 1.0, True, 1.0))
    sweeps.sweep()
    assert sent == []  # one before it was taken a moment ago
    long_ago = timezone.now() - timedelta(minutes=1)
    Attempt.objects.filter(pk=before.pk).update(started_at=long_ago, finished_at=long_ago)
    sweeps.sweep()
    assert sent == [behind.episode_id]


def test_a_message_that_others_have_overtaken_is_sent_again(visitor: Visitor, sent: list[str]) -> None:
    first, second = visitor.send(visitor.open()), visitor.send(visitor.open())
    lost = Attempt.objects.get(episode_id=first["left_episode_id"])
    Attempt.objects.filter(status="held").update(status="queued", sent_at=timezone.now())
    later = Attempt.objects.get(turn__turn_id=second["turn_id"], model_id=lost.model_id)
    assert actions.claim_attempt(later.episode_id, "another-host:1") is not None
    sent.clear()
    lose(lost)
    sweeps.sweep()
    assert sent == [lost.episode_id]


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (FakePolicy(raises=ValueError("alpha is broken")), "policy_failed"),
        (FakePolicy(raises=SoftTimeLimitExceeded()), "timeout"),
        (PolicyError("alpha has no weights"), "policy_failed"),
    ],
)
def test_a_policy_that_fails_fails_its_rollout_with_a_reason_that_names_nobody(
    visitor: Visitor, runtime: FakeRuntime, trouble: Any, reason: str
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    runtime.policies = {battle_row(battle_id).left_model_id: trouble}
    play(turn)
    failed = side_of(battle_id, "left")
    assert (failed.status, failed.termination_reason) == ("failed", reason)
    assert failed.error
    assert visitor.battle(battle_id)["turns"][0]["left"]["error"] == "turn_failed"
    assert side_of(battle_id, "right").status == "completed"
    if isinstance(trouble, FakePolicy):
        assert runtime.dropped == [failed.model_id]


def test_a_policy_that_thinks_too_long_is_timed_out(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(episodes, "limits_of", lambda *_: Limits(infer_s=0.05))
    turn = visitor.send(visitor.open())
    runtime.policies = {side_of_turn(turn, "left").model_id: FakePolicy(pause_s=0.1)}
    episodes.play(turn["left_episode_id"])
    assert side_of_turn(turn, "left").termination_reason == "timeout"


def test_trouble_of_our_own_settles_the_rollout_too(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(runtime, "environment", broken)
    turn = visitor.send(visitor.open())
    play(turn)
    assert side_of_turn(turn, "left").termination_reason == "internal"
    assert "ZeroDivisionError" in side_of_turn(turn, "left").error
    assert visitor.get(f"turns/{turn['turn_id']}").json()["status"] == "failed"
