"""Asking workers to draw, check and play a moderator's task. The web process only asks."""

from __future__ import annotations

from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.utils import timezone

from arena.errors import QueueUnavailable
from arena.queue.dispatch import NOT_SENT, RETRY
from arena.queue.hosting import queue_of
from robots.models import PublishedTask, SceneTrial, TaskTrial, Trial

TRY = "robots.try_task"
LOST_AFTER = timedelta(minutes=5)
"""What was asked for so long ago and is not done is not waited for."""
What = TaskTrial.What


def ask(task: PublishedTask, what: str, seed: int = 0, model_id: str = "") -> TaskTrial:
    """Have it done: a policy plays on a worker that hosts it, and the rest is the drawing worker's.

    Raises QueueUnavailable.
    """
    trial = TaskTrial.objects.create(task=task, what=what, yaml=task.yaml, seed=seed, model_id=model_id)
    send(trial, TRY, queue_of(model_id) if what == What.PLAY else settings.DRAWINGS_QUEUE)
    return trial


def send(trial: TaskTrial | SceneTrial, name: str, queue: str) -> None:
    """Put it on a queue as the task of this name. Raises QueueUnavailable, and leaves no row then."""
    try:
        current_app.send_task(name, args=[trial.pk], queue=queue, retry=True, retry_policy=RETRY, ignore_result=True)
    except NOT_SENT as error:
        trial.delete()
        raise QueueUnavailable from error


def is_awaited(trial: Trial) -> bool:
    return trial.done_at is None and trial.asked_at > timezone.now() - LOST_AFTER
