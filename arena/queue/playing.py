"""Playing an attempt by its kind: on a worker, or on a thread of the process that sends it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from django.db import close_old_connections

from arena import kinds
from arena.models import Attempt, Contestant

log = logging.getLogger(__name__)
THREADS = 32


def play(episode_id: str) -> None:
    """One that is gone is not played."""
    kind = Attempt.objects.filter(episode_id=episode_id).values_list("turn__session__kind", flat=True).first()
    if kind is None:
        log.info("%s is not there to be played", episode_id)
        return
    kinds.get(kind).play(episode_id)


def play_here(episode_ids: Iterable[str]) -> None:
    """Begin on threads of this process. What is lost with it, a sweep sends again."""
    for episode_id in episode_ids:
        _threads().submit(_play_on_thread, episode_id)


def played_here(model_ids: Iterable[str]) -> set[str]:
    """Those of the contestants whose kind does not want a worker. No query where there is no such kind."""
    own = [kind.id for kind in kinds.every() if kind.played_here]
    return set(Contestant.objects.filter(pk__in=model_ids, kind__in=own).values_list("pk", flat=True)) if own else set()


def _play_on_thread(episode_id: str) -> None:
    try:
        play(episode_id)
    except Exception:  # the thread's edge: a sweep finds an attempt that has no end
        log.exception("%s was not played", episode_id)
    finally:
        close_old_connections()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="attempt")
