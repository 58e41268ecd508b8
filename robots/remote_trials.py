"""Asking a worker to try a server. The web process opens no connection to it."""

from __future__ import annotations

from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.utils import timezone

from arena.errors import QueueUnavailable
from arena.queue.dispatch import NOT_SENT, RETRY
from robots.models import RemoteTrial

TRY = "robots.try_remote"
LOST_AFTER = timedelta(minutes=5)
"""What was asked for so long ago and is not done is not waited for."""


def ask(trial: RemoteTrial) -> None:
    """Save the row and have it tried by the drawing worker, which has physics and plays no battles.

    Raises QueueUnavailable; the row then says so.
    """
    trial.save()
    try:
        current_app.send_task(
            TRY, args=[trial.pk], queue=settings.DRAWINGS_QUEUE, retry=True, retry_policy=RETRY, ignore_result=True
        )
    except NOT_SENT as error:
        settle(trial, False, str(QueueUnavailable()))
        raise QueueUnavailable from error


def settle(trial: RemoteTrial, entered: bool, outcome: str) -> None:
    trial.entered, trial.outcome, trial.done_at = entered, outcome, timezone.now()
    trial.save(update_fields=["entered", "outcome", "done_at"])


def is_awaited(trial: RemoteTrial) -> bool:
    return trial.done_at is None and trial.asked_at > timezone.now() - LOST_AFTER
