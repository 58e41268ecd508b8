"""Finding rollouts that nobody plays any more, and giving them another chance or an end."""

from __future__ import annotations

import logging
import math
import os
import socket
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from arena import actions
from arena.models import Rollout, RolloutQuerySet
from arena.queue import hosting

log = logging.getLogger(__name__)


def worker_name() -> str:
    """This process, as a rollout's row names it: host:process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def sweep() -> int:
    """Take care of every lost rollout; answers how many there were. Safe to run at any time, by many at once."""
    fresh = _fresh()
    lost = [rollout for rollout in _with_battle().running() if _is_lost(rollout, fresh)]
    for rollout in lost:
        _replace_attempt(rollout)
    forgotten = _forgotten(fresh)
    if forgotten:
        hosts = hosting.hosts()
        for rollout in forgotten:
            _send_again_or_refuse(rollout, hosts)
    actions.send_due_or_leave_to_the_sweep()
    return len(lost) + len(forgotten)


def _forgotten(fresh: tuple[datetime, datetime]) -> list[Rollout]:
    """Whose message seems to be lost: nobody has taken them for long, and nobody is taking those before them either.

    Where the line is long it is what makes them wait, and one message more for each would make it longer.
    """
    unanswered = list(_with_battle().unanswered(*fresh))
    started = Rollout.objects.first_started(*fresh) if unanswered else {}
    return [rollout for rollout in unanswered if rollout.pk < started.get(rollout.model_id, math.inf)]


def _send_again_or_refuse(rollout: Rollout, hosts: hosting.Hosts) -> None:
    profile = rollout.turn.battle.render_profile
    if hosts.unhosted([rollout.model_id]) or not hosts.renders(rollout.model_id, profile):
        if actions.refuse_rollout(rollout, "not_hosted", f"no worker hosts {rollout.model_id}"):
            log.error("No worker hosts %s: %s is not played", rollout.model_id, rollout.episode_id)
        return
    log.warning("Nobody has taken %s: sending it again", rollout.episode_id)
    actions.resend_rollout(rollout)


def _with_battle() -> RolloutQuerySet:
    return Rollout.objects.select_related("turn__battle")


def _fresh() -> tuple[datetime, datetime]:
    """Between these, a heartbeat is one of a living worker. One from the future is of a clock that was set back, and
    would else be taken for fresh until the clock has caught up with it.
    """
    now, tolerance = timezone.now(), timedelta(seconds=settings.ROLLOUT_STALE_S)
    return now - tolerance, now + tolerance


def _is_lost(rollout: Rollout, fresh: tuple[datetime, datetime]) -> bool:
    """Its worker has been silent for too long, or is a process of this host that is no more."""
    beat, (since, until) = rollout.heartbeat_at, fresh
    return beat is None or not since <= beat <= until or _has_died(rollout.worker)


def _has_died(worker: str) -> bool:
    host, _, process = worker.rpartition(":")
    if host != socket.gethostname() or not process.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _replace_attempt(rollout: Rollout) -> None:
    if rollout.attempt < settings.ROLLOUT_MAX_ATTEMPTS:
        if actions.give_up_attempt(rollout):
            log.warning("Worker %s was lost: playing %s again", rollout.worker, rollout.episode_id)
    elif actions.fail_rollout(rollout, "worker_lost", f"{rollout.attempt} attempts ended with their worker"):
        log.error("Worker %s was lost: giving %s up", rollout.worker, rollout.episode_id)
