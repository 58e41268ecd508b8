"""The tasks of the queue that are about studies."""

from __future__ import annotations

from celery import shared_task

from arena.tasks import GRACE_S, PLAYED_WITHIN_S


@shared_task(  # type: ignore[untyped-decorator]
    name="studies.advance", soft_time_limit=PLAYED_WITHIN_S, time_limit=PLAYED_WITHIN_S + GRACE_S
)
def advance(pk: int) -> None:
    from studies import advancing

    advancing.advance(pk)


@shared_task(name="studies.tend", expires=10, acks_late=False)  # type: ignore[untyped-decorator]
def tend() -> int:
    from studies import queueing

    return queueing.tend()
