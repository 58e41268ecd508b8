"""Sending work to the queue, by name: the web process never imports what the worker runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from celery import current_app
from kombu import exceptions

from arena.errors import QueueUnavailable
from arena.queue import playing
from arena.queue.hosting import queue_of

log = logging.getLogger(__name__)

PLAY, SWEEP = "arena.play_rollout", "arena.sweep"
SWEPT_WITHIN_S = 10.0
# Refused connections are tried again at once and then told to the visitor, who is waiting for the answer.
RETRY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2}
NOT_SENT = (exceptions.KombuError, exceptions.ConnectionError, exceptions.ChannelError, OSError, AttributeError)
"""The last where a server stalls while a queue is declared: kombu opens another channel, declares it there, and sends
on the one that it has closed."""


def play(attempts: Mapping[str, str], profile: str = "") -> None:
    """Let these attempts be played (episode id -> contestant): by the workers that host the contestants, or here.

    With a `profile`, only by those that render like that. Raises QueueUnavailable. A message too many does no harm.
    """
    here = playing.played_here(attempts.values())
    _send({episode_id: model_id for episode_id, model_id in attempts.items() if model_id not in here}, profile)
    playing.play_here(episode_id for episode_id, model_id in attempts.items() if model_id in here)


def _send(attempts: Mapping[str, str], profile: str) -> None:
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
    """Ask for a sweep after so long: it sends what is due by then. Where the queue does not take it, beat's next sweep
    does the same."""
    try:
        current_app.send_task(
            SWEEP, countdown=seconds, expires=seconds + SWEPT_WITHIN_S, retry=False, ignore_result=True
        )
    except NOT_SENT as error:
        log.warning("The queue took no sweep: %r", error)
