"""Finding attempts whose worker or message was lost, and retrying or failing them."""

from __future__ import annotations

import logging
import math
import os
import socket
from datetime import datetime

import psutil
from django.conf import settings

from arena import actions, kinds
from arena.models import Attempt, AttemptQuerySet, live_between
from arena.queue import hosting

log = logging.getLogger(__name__)


def worker_name() -> str:
    """This process, as an attempt's row names it: host:process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def sweep() -> int:
    """Retry or fail every lost attempt. Answers how many there were. Safe to run at any time, also concurrently."""
    fresh = live_between(settings.ROLLOUT_STALE_S)
    lost = [attempt for attempt in _with_battle().running() if _is_lost(attempt, fresh)]
    for attempt in lost:
        _replace_attempt(attempt)
    unclaimed = _unclaimed(fresh)
    if unclaimed:
        hosts = hosting.hosts()
        for attempt in unclaimed:
            _send_again_or_refuse(attempt, hosts)
    actions.send_due_or_leave_to_the_sweep()
    return len(lost) + len(unclaimed)


def _unclaimed(fresh: tuple[datetime, datetime]) -> list[Attempt]:
    """Attempts whose message seems to be lost: no worker has claimed them for long, nor those before them.

    If those before them are being claimed, the length of the queue makes them wait, and another message would only make
    it longer.
    """
    unanswered = list(_with_battle().unanswered(*fresh))
    started = Attempt.objects.first_started(*fresh) if unanswered else {}
    return [attempt for attempt in unanswered if attempt.pk < started.get(attempt.model_id, math.inf)]


def _send_again_or_refuse(attempt: Attempt, hosts: hosting.Hosts) -> None:
    profile = attempt.turn.battle.render_profile
    here = kinds.of(attempt.turn).played_here
    if not here and (hosts.unhosted([attempt.model_id]) or not hosts.renders(attempt.model_id, profile)):
        if actions.refuse_attempt(attempt, "not_hosted", f"no worker hosts {attempt.model_id}"):
            log.error("No worker hosts %s: %s is not played", attempt.model_id, attempt.episode_id)
        return
    log.warning("No worker has taken %s: sending it again", attempt.episode_id)
    actions.resend_attempt(attempt)


def _with_battle() -> AttemptQuerySet:
    return Attempt.objects.select_related("turn__battle__session")


def _is_lost(attempt: Attempt, fresh: tuple[datetime, datetime]) -> bool:
    """Whether its worker has been silent for too long, or is a process of this host that has ended."""
    beat, (since, until) = attempt.heartbeat_at, fresh
    return beat is None or not since <= beat <= until or _has_died(attempt.worker)


def _has_died(worker: str) -> bool:
    host, _, process = worker.rpartition(":")
    return host == socket.gethostname() and process.isdigit() and not psutil.pid_exists(int(process))


def _replace_attempt(attempt: Attempt) -> None:
    if attempt.tries < settings.ROLLOUT_MAX_ATTEMPTS:
        if actions.give_up_attempt(attempt):
            log.warning("Worker %s was lost: playing %s again", attempt.worker, attempt.episode_id)
    elif actions.fail_attempt(attempt, "worker_lost", f"{attempt.tries} attempts ended with their worker"):
        log.error("Worker %s was lost: giving %s up", attempt.worker, attempt.episode_id)
