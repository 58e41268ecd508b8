"""Asking the drawing worker to draw, check and play a moderator's scene. The web process only asks."""

from __future__ import annotations

from celery import current_app
from django.conf import settings

from arena.errors import QueueUnavailable
from arena.queue.dispatch import NOT_SENT, RETRY
from robots.models import PublishedScene, SceneTrial

TRY = "robots.try_scene"


def ask(scene: PublishedScene, what: str, seed: int = 0) -> SceneTrial:
    """Raises QueueUnavailable."""
    trial = SceneTrial.objects.create(scene=scene, what=what, yaml=scene.yaml, seed=seed)
    queue = settings.DRAWINGS_QUEUE
    try:
        current_app.send_task(TRY, args=[trial.pk], queue=queue, retry=True, retry_policy=RETRY, ignore_result=True)
    except NOT_SENT as error:
        trial.delete()
        raise QueueUnavailable from error
    return trial
