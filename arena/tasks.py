"""The tasks of the queue. Beat imports this module too, so the code that plays attempts is imported inside them."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from arena.queue import worker  # noqa: F401 - connects the signals of the worker
from arena.queue.retry import BUSY, RETRY_FOR_S

GRACE_S = 30.0
PLAYED_WITHIN_S = settings.ROLLOUT_WALL_S + RETRY_FOR_S + GRACE_S


@shared_task(  # type: ignore[untyped-decorator]
    name="arena.play_rollout", soft_time_limit=PLAYED_WITHIN_S, time_limit=PLAYED_WITHIN_S + GRACE_S
)
def play_attempt(episode_id: str) -> None:
    from arena.queue.playing import play

    play(episode_id)


@shared_task(  # type: ignore[untyped-decorator]
    name="arena.expire", autoretry_for=BUSY, retry_backoff=5, retry_jitter=True, max_retries=6
)
def expire() -> None:
    from arena import retention
    from arena.drawings.store import get_drawings
    from arena.gallery import entering
    from arena.visitors import networks

    networks.destroy_old_keys()
    retention.expire()
    entering.enter_missing()
    get_drawings().prune(settings.DRAWINGS_MB, {"video.mp4": settings.VIDEO_DAYS})


@shared_task(name="arena.sweep", expires=10, acks_late=False)  # type: ignore[untyped-decorator]
def sweep() -> int:
    from arena.queue import sweeps

    return sweeps.sweep()
