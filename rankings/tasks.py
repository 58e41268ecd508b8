"""What the worker does for the rankings; beat sends it by name (`settings.BEAT_TASKS`)."""

from __future__ import annotations

import logging

from celery import shared_task

from rankings import aggregation, checking, locking

log = logging.getLogger(__name__)


@shared_task(name=locking.WORKER)  # type: ignore[untyped-decorator]
def aggregate() -> None:
    try:
        aggregation.aggregate(once_an_hour=True)
    except aggregation.PublishedAlready as reason:
        log.info("Nothing to do: %s", reason)


@shared_task(name=checking.WORKER)  # type: ignore[untyped-decorator]
def check() -> None:
    checking.check()
