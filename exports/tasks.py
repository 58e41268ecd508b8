"""The hourly task of dumps, sent by beat (`settings.BEAT_TASKS`)."""

from __future__ import annotations

import logging

from celery import shared_task
from django.conf import settings

from arena.queue.retry import BUSY
from policies.models import ROBOTS

log = logging.getLogger(__name__)


@shared_task(  # type: ignore[untyped-decorator]
    name="exports.dump", autoretry_for=BUSY, retry_backoff=5, retry_jitter=True, max_retries=6
)
def dump() -> None:
    from arena import kinds
    from exports import dumps
    from exports.bundle.writing import NotPublished

    if not settings.DUMPS:
        dumps.withdraw(kinds.get(ROBOTS))
        return
    try:
        dumps.write_dump(kinds.get(ROBOTS))
    except NotPublished as reason:
        log.info("No dump: %s", reason)
