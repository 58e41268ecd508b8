"""What the queue may ask a worker for. Beat reads this too, so what plays rollouts is imported where it is needed."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from arena import worker  # noqa: F401 - connects the worker's start

GRACE_S = 30.0


@shared_task(  # type: ignore[untyped-decorator]
    name="arena.play_rollout",
    soft_time_limit=settings.ROLLOUT_WALL_S + GRACE_S,
    time_limit=settings.ROLLOUT_WALL_S + 2 * GRACE_S,
)
def play_rollout(episode_id: str) -> None:
    from arena.episodes import play

    play(episode_id)


@shared_task(name="arena.sweep", expires=10, acks_late=False)  # type: ignore[untyped-decorator]
def sweep() -> int:
    from arena import sweeps

    return sweeps.sweep()
