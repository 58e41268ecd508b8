"""What the worker does for the rankings; beat sends it by name (`settings.BEAT_TASKS`)."""

from __future__ import annotations

from celery import shared_task

from rankings import aggregation, checking, locking


@shared_task(name=locking.WORKER)  # type: ignore[untyped-decorator]
def aggregate() -> None:
    aggregation.aggregate()


@shared_task(name=checking.WORKER)  # type: ignore[untyped-decorator]
def check() -> None:
    aggregation.aggregate()
    checking.check()
