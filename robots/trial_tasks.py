"""What moderators and operators have tried from the admin, as tasks of the queue.

The drawing worker imports this module, so it must not import `arena.tasks`, which makes a worker one that plays.
"""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from robots.remote_trials import TRY as TRY_REMOTE
from robots.scene_trials import TRY as TRY_SCENE
from robots.task_trials import TRY

GRACE_S = 30.0
TRIED_WITHIN_S = settings.ROLLOUT_WALL_S + 2 * GRACE_S


@shared_task(name=TRY_REMOTE, soft_time_limit=TRIED_WITHIN_S, time_limit=TRIED_WITHIN_S + GRACE_S)  # type: ignore[untyped-decorator]
def try_remote(trial: int) -> None:
    from robots.remote_trial_maker import make

    make(trial)


@shared_task(name=TRY, soft_time_limit=TRIED_WITHIN_S, time_limit=TRIED_WITHIN_S + GRACE_S)  # type: ignore[untyped-decorator]
def try_task(trial: int) -> None:
    from robots.task_trial_maker import make

    make(trial)


@shared_task(name=TRY_SCENE, soft_time_limit=TRIED_WITHIN_S, time_limit=TRIED_WITHIN_S + GRACE_S)  # type: ignore[untyped-decorator]
def try_scene(trial: int) -> None:
    from robots.scene_trial_maker import make

    make(trial)
