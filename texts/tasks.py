"""The tasks of the queue that are about text."""

from __future__ import annotations

from celery import shared_task


@shared_task(name="texts.check_servers", expires=15, acks_late=False)  # type: ignore[untyped-decorator]
def check_servers() -> int:
    from texts import health

    return health.check_all()
