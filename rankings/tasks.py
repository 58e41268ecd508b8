"""Celery tasks of the rankings, sent by beat (`settings.BEAT_TASKS`)."""

from __future__ import annotations

import logging

from celery import shared_task
from django.db import InterfaceError, OperationalError

from rankings.publication import aggregation, checking
from rankings.votes import locking

log = logging.getLogger(__name__)


# Retry only where the database is away or locked: any other error would come again.
BUSY = {
    "autoretry_for": (OperationalError, InterfaceError),
    "retry_backoff": 5,
    "retry_jitter": True,
    "max_retries": 6,
}


@shared_task(name=locking.WORKER, **BUSY)  # type: ignore[untyped-decorator]
def aggregate() -> None:
    try:
        aggregation.aggregate(once_an_hour=True)
    except aggregation.PublishedAlready as reason:
        log.info("Nothing to do: %s", reason)


@shared_task(name=checking.WORKER, **BUSY)  # type: ignore[untyped-decorator]
def check() -> None:
    checking.check()
