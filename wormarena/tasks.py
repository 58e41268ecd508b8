"""Celery tasks of WormArena."""

from __future__ import annotations

from celery import shared_task
from django.db import InterfaceError, OperationalError

BUSY = {
    "autoretry_for": (OperationalError, InterfaceError),
    "retry_backoff": 5,
    "retry_jitter": True,
    "max_retries": 6,
}


@shared_task(name="wormarena.look", expires=30, **BUSY)  # type: ignore[untyped-decorator]
def look() -> None:
    from wormarena import presence
    from wormarena.ingestion import watching

    watching.look_everywhere()
    presence.note_games()
