"""Sending work to the queue, by name: the web process never imports what the worker runs."""

from __future__ import annotations

from collections.abc import Mapping

from celery import current_app
from kombu.exceptions import KombuError

from arena.errors import QueueUnavailable
from arena.hosting import queue_of

PLAY = "arena.play_rollout"
# Refused connections are tried again at once and then told to the visitor, who is waiting for the answer.
RETRY = {"max_retries": 2, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.2}


def play(rollouts: Mapping[str, str]) -> None:
    """Ask the workers that host their policies to play these rollouts (episode id -> policy id).

    Raises QueueUnavailable. A message too many does no harm.
    """
    try:
        for episode_id, model_id in rollouts.items():
            current_app.send_task(
                PLAY, args=[episode_id], queue=queue_of(model_id), retry=True, retry_policy=RETRY, ignore_result=True
            )
    except (KombuError, OSError) as error:
        raise QueueUnavailable from error
