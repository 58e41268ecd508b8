"""The tasks of the queue that are about robots."""

from __future__ import annotations

from celery import shared_task

from arena.tasks import GRACE_S, PLAYED_WITHIN_S
from robots.remote_trials import TRY as TRY_REMOTE
from robots.task_trials import TRY


@shared_task(name="robots.check_remote_policies", expires=15, acks_late=False)  # type: ignore[untyped-decorator]
def check_remote_policies() -> int:
    from policies.remote import probe

    return probe.check_all()


@shared_task(name=TRY_REMOTE, soft_time_limit=PLAYED_WITHIN_S, time_limit=PLAYED_WITHIN_S + GRACE_S)  # type: ignore[untyped-decorator]
def try_remote(trial: int) -> None:
    from robots.remote_trial_maker import make

    make(trial)


@shared_task(name=TRY, soft_time_limit=PLAYED_WITHIN_S, time_limit=PLAYED_WITHIN_S + GRACE_S)  # type: ignore[untyped-decorator]
def try_task(trial: int) -> None:
    from robots.task_trial_maker import make

    make(trial)
