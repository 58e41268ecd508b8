"""A clock that is set forwards or back leaves no turn without a player and no task without its turn."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from arena.models import Attempt, AttemptStatus, Hosting
from arena.queue import sweeps
from tests.arena.conftest import Visitor, side_of
from vlaarena.beat import Scheduler

HOUR = timedelta(hours=1)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    messages: list[str] = []
    monkeypatch.setattr("arena.queue.dispatch.send_to_workers", messages.extend)
    return messages


def test_a_message_that_was_lost_before_the_clock_went_back_is_sent_again(visitor: Visitor, sent: list[str]) -> None:
    turn = visitor.send(visitor.open())
    sent.clear()
    sweeps.sweep()
    assert sent == []
    Attempt.objects.update(sent_at=timezone.now() + HOUR)
    sweeps.sweep()
    assert sorted(sent) == sorted([turn["left_episode_id"], turn["right_episode_id"]])


def test_a_worker_that_died_before_the_clock_went_back_is_replaced(visitor: Visitor, sent: list[str]) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    Attempt.objects.claim(turn["left_episode_id"], "elsewhere:1")
    Attempt.objects.claim(turn["right_episode_id"], "elsewhere:2")
    Attempt.objects.filter(side="left").update(heartbeat_at=timezone.now() + HOUR)
    sent.clear()
    sweeps.sweep()
    assert side_of(battle_id, "left").status == AttemptStatus.QUEUED
    assert side_of(battle_id, "right").status == AttemptStatus.RUNNING
    assert sent == [turn["left_episode_id"]]


def test_a_worker_seen_last_in_the_future_is_not_taken_for_a_living_one(contestants: list[Any]) -> None:
    Hosting.objects.create(worker="elsewhere", contestant=contestants[0])
    assert Hosting.objects.live().exists()
    Hosting.objects.update(seen_at=timezone.now() + HOUR)
    assert not Hosting.objects.live().exists()


@pytest.fixture
def schedule(transactional_db: None) -> Scheduler:
    """Beat's schedule, as it was before its clock went back by an hour: everything ran an hour from now."""
    call_command("seed_schedule")
    PeriodicTask.objects.update(last_run_at=timezone.now() + HOUR)
    return Scheduler(app=current_app, lazy=True)


def test_after_the_clock_went_back_the_next_sweep_comes_within_its_usual_time(schedule: Scheduler) -> None:
    assert 0 <= schedule.tick() <= settings.BEAT_TASKS["Sweep stale rollouts"]["every_s"]
    entry = schedule.schedule["Sweep stale rollouts"]
    assert entry.last_run_at <= timezone.now()
    due, wait = entry.is_due()
    assert due or wait <= settings.BEAT_TASKS["Sweep stale rollouts"]["every_s"]


def test_a_clock_that_stays_right_changes_no_last_run(transactional_db: None) -> None:
    call_command("seed_schedule")
    before = timezone.now() - timedelta(seconds=1)
    PeriodicTask.objects.update(last_run_at=before)
    beat = Scheduler(app=current_app, lazy=True)
    beat.tick()
    assert {entry.last_run_at for entry in beat.schedule.values()} == {before}
