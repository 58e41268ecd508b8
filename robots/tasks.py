"""The tasks of the queue that are about robots."""

from __future__ import annotations

from celery import shared_task

from robots import trial_tasks  # noqa: F401 - workers that play try tasks, too


@shared_task(name="robots.check_remote_policies", expires=15, acks_late=False)  # type: ignore[untyped-decorator]
def check_remote_policies() -> int:
    from policies.remote import probe

    return probe.check_all()
