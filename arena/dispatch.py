"""Sending work to the queue, by name: the web process never imports what the worker runs."""

from __future__ import annotations

from collections.abc import Iterable

from celery import current_app
from kombu.exceptions import KombuError

from arena.errors import QueueUnavailable

PLAY = "arena.play_rollout"
# Refused connections are tried again at once and then told to the visitor, who is waiting for the answer.
RETRY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2}


def play(episode_ids: Iterable[str]) -> None:
    """Ask workers to play these rollouts; raises QueueUnavailable. A message too many does no harm."""
    try:
        for episode_id in episode_ids:
            current_app.send_task(PLAY, args=[episode_id], retry=True, retry_policy=RETRY, ignore_result=True)
    except (KombuError, OSError) as error:
        raise QueueUnavailable from error
