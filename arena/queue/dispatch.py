"""Sending work to the queue, by name: the web process never imports what the worker runs."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from celery import current_app
from kombu import exceptions

from arena import kinds
from arena.errors import QueueUnavailable
from arena.models import Attempt
from arena.queue import playing
from arena.queue.hosting import queue_of

log = logging.getLogger(__name__)

PLAY, SWEEP = "arena.play_rollout", "arena.sweep"
SWEPT_WITHIN_S = 10.0
# Refused connections are retried at once, and then reported to the visitor, who is waiting for the answer.
RETRY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2}
NOT_SENT = (exceptions.KombuError, exceptions.ConnectionError, exceptions.ChannelError, OSError, AttributeError)
"""AttributeError: if a server stalls while a queue is declared, kombu declares it on another channel, and then sends on
the one that it has closed."""


def send(attempts: Collection[Attempt]) -> None:
    """Have these attempts played by workers, or by this process if their kind says so. Raises QueueUnavailable.

    Their turns must have battle and session loaded. A duplicate message does no harm.
    """
    here = [attempt.episode_id for attempt in attempts if kinds.of(attempt.turn).played_here]
    if to_workers := {each.episode_id: each.model_id for each in attempts if each.episode_id not in here}:
        send_to_workers(to_workers)
    playing.play_here(here)


def send_to_workers(attempts: Mapping[str, str], profile: str = "") -> None:
    """Send these attempts (episode id -> contestant) to the workers that host the contestants; with a `profile`, only
    to those that render with it. Raises QueueUnavailable.
    """
    try:
        for episode_id, model_id in attempts.items():
            current_app.send_task(
                PLAY,
                args=[episode_id],
                queue=queue_of(model_id, profile),
                retry=True,
                retry_policy=RETRY,
                ignore_result=True,
            )
    except NOT_SENT as error:
        log.warning("The queue took no message: %r", error)
        raise QueueUnavailable from error


def sweep_in(seconds: float) -> None:
    """Request a sweep after so long, which sends what is due by then. If the queue is down, beat's next sweep does."""
    try:
        current_app.send_task(
            SWEEP, countdown=seconds, expires=seconds + SWEPT_WITHIN_S, retry=False, ignore_result=True
        )
    except NOT_SENT as error:
        log.warning("The queue took no sweep: %r", error)
