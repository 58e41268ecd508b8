"""What the worker does for the rankings; beat sends it by name, hourly (`settings.BEAT_TASKS`)."""

from __future__ import annotations

from celery import shared_task

from rankings import aggregation


@shared_task(name=aggregation.WORKER)  # type: ignore[untyped-decorator]
def aggregate() -> None:
    aggregation.aggregate()
