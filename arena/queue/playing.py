"""Playing an attempt by its kind: on a worker, or on a thread of the process that sends it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from django.db import close_old_connections

from arena import kinds
from arena.models import Attempt

log = logging.getLogger(__name__)
THREADS = 32


def play(episode_id: str) -> None:
    """Play an attempt. Does nothing if it is gone."""
    kind = Attempt.objects.filter(episode_id=episode_id).values_list("turn__session__kind", flat=True).first()
    if kind is None:
        log.info("%s is gone and is not played", episode_id)
        return
    kinds.get(kind).play(episode_id)


def play_here(episode_ids: Iterable[str]) -> None:
    """Begin on threads of this process. A sweep sends again what is lost with it."""
    for episode_id in episode_ids:
        _threads(os.getpid()).submit(_play_on_thread, episode_id)


def _play_on_thread(episode_id: str) -> None:
    from arena import actions
    from arena.queue.sweeps import worker_name

    try:
        play(episode_id)
    except Exception as error:  # the thread's edge: the turn must settle with its reason
        log.exception("%s was not played", episode_id)
        claimed = Attempt.objects.running().filter(episode_id=episode_id, worker=worker_name())
        for attempt in claimed.select_related("turn__battle__session"):  # a sweep finds what is not claimed
            actions.fail_attempt(attempt, "internal", repr(error))
    finally:
        close_old_connections()


@cache
def _threads(process_id: int) -> ThreadPoolExecutor:
    """One pool per process, because threads do not survive a fork."""
    return ThreadPoolExecutor(THREADS, thread_name_prefix="attempt")
