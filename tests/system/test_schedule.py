"""The periodic tasks are entered once, and then belong to the moderators."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.management import call_command
from django_celery_beat.models import IntervalSchedule, PeriodicTask

pytestmark = pytest.mark.django_db


def test_the_hourly_aggregation_and_the_sweep_are_entered() -> None:
    call_command("seed_schedule")
    aggregation = PeriodicTask.objects.get(task="rankings.aggregate")
    assert (aggregation.crontab.minute, aggregation.crontab.hour) == ("0", "*")
    sweep = PeriodicTask.objects.get(task="arena.sweep")
    assert (sweep.interval.every, sweep.interval.period) == (5, IntervalSchedule.SECONDS)


def test_seeding_again_keeps_what_was_edited() -> None:
    call_command("seed_schedule")
    PeriodicTask.objects.filter(task="arena.sweep").update(
        enabled=False, interval=IntervalSchedule.objects.create(every=9, period=IntervalSchedule.SECONDS)
    )
    call_command("seed_schedule")
    sweep = PeriodicTask.objects.get(task="arena.sweep")
    assert (sweep.enabled, sweep.interval.every) == (False, 9)
    assert PeriodicTask.objects.count() == len(settings.BEAT_TASKS)


def test_every_scheduled_task_exists() -> None:
    from vlaarena.celery import app

    app.loader.import_default_modules()
    assert {entry["task"] for entry in settings.BEAT_TASKS.values()} <= set(app.tasks)
