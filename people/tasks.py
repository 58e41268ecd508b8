"""The nightly task of accounts, sent by beat (`settings.BEAT_TASKS`)."""

from __future__ import annotations

from celery import shared_task

from arena.queue.retry import BUSY


@shared_task(  # type: ignore[untyped-decorator]
    name="people.expire", autoretry_for=BUSY, retry_backoff=5, retry_jitter=True, max_retries=6
)
def expire() -> None:
    from people import expiry

    expiry.expire()
