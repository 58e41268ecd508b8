"""`manage.py seed_schedule`: create missing periodic tasks. Tasks edited in the admin are kept as they are."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask


class Command(BaseCommand):
    help = "Create the periodic tasks of settings.BEAT_TASKS that are missing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        added = [name for name, entry in settings.BEAT_TASKS.items() if _add(name, entry)]
        self.stdout.write(json.dumps({"added": added}) if options["json"] else f"{len(added)} periodic tasks added")


@transaction.atomic
def _add(name: str, entry: dict[str, Any]) -> bool:
    """Add a task unless one with its name exists. Returns whether it was added."""
    if PeriodicTask.objects.filter(name=name).exists():
        return False
    task = PeriodicTask(name=name, task=entry["task"], description=entry["description"])
    if "every_s" in entry:
        task.interval, _ = IntervalSchedule.objects.get_or_create(
            every=entry["every_s"], period=IntervalSchedule.SECONDS
        )
        task.expire_seconds = entry["every_s"]  # a busy worker need not catch up on missed runs
    else:
        task.crontab, _ = CrontabSchedule.objects.get_or_create(**entry["crontab"], timezone="UTC")
    task.save()
    return True
