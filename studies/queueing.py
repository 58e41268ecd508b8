"""The queue of studies: which come next, and sending their parts to workers behind all that visitors wait for.

A message plays a part: some episodes of one side, on a worker that hosts its policy. The worker sends the next one, and
beat's task sends what got lost: nothing that was played is played again.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.db.models import Count
from django.utils import timezone

from arena.queue import hosting
from arena.queue.dispatch import NOT_SENT
from studies.models import Study, StudyEpisode

log = logging.getLogger(__name__)
ADVANCE = "studies.advance"
BLOCK = 5
"""Cases that one side plays before the other does."""
LAST = 9
"""The priority of messages behind all others, as Valkey and Redis order them."""
SENT_FOR = timedelta(seconds=60)
"""A message that no worker took for so long is dropped, and sent again."""
SIDES = ("a", "b")


def tend() -> int:
    """Send a message for each study whose turn it is and that nobody plays. Answers how many. Safe at any time."""
    now = timezone.now()
    sent = 0
    for study in turn_of()[: settings.STUDIES["at_once"]]:
        is_played = study.leased_until is not None and study.leased_until > now
        is_asked = study.sent_at is not None and study.sent_at > now - SENT_FOR
        if not (is_played or is_asked):
            sent += send(study)
    return sent


def turn_of() -> list[Study]:
    """The open studies that live workers can play, oldest first."""
    hosts = hosting.hosts()
    rows = Study.objects.filter(state__in=Study.OPEN).order_by("created_at", "pk")
    return [study for study in rows if _can_be_played(study, hosts)]


def _can_be_played(study: Study, hosts: hosting.Hosts) -> bool:
    """Whether both sides have a worker, and pictures would look alike there."""
    sides = [study.a_id, study.b_id]
    if hosts.unhosted(sides) or hosts.profile_for(sides, study.render_profile) is None:
        return False
    return all(hosts.renders(side, study.render_profile) for side in sides)


def send(study: Study) -> bool:
    """Send its next part to the workers of the policy whose turn it is. Answers whether the queue took it."""
    side, _ = next_part(study)
    profile = study.render_profile or hosting.hosts().profile_for([study.a_id, study.b_id]) or ""
    queue = hosting.queue_of(study.a_id if side == "a" else study.b_id, profile)
    Study.objects.filter(pk=study.pk).update(sent_at=timezone.now())
    try:
        current_app.send_task(
            ADVANCE,
            args=[study.pk],
            queue=queue,
            priority=LAST,
            expires=SENT_FOR.total_seconds(),
            retry=False,
            ignore_result=True,
        )
    except NOT_SENT as error:
        log.warning("The queue took no part of %s: %r", study.study_id, error)
        Study.objects.filter(pk=study.pk).update(sent_at=None)
        return False
    return True


def next_part(study: Study) -> tuple[str, list[int]]:
    """A side, and the numbers of the cases that it plays next; none once all are played. One query."""
    played = set(StudyEpisode.objects.filter(study=study).values_list("side", "number"))
    for first in range(0, study.planned, BLOCK):
        block = range(first, min(first + BLOCK, study.planned))
        for side in SIDES:
            if missing := [number for number in block if (side, number) not in played]:
                return side, missing
    return SIDES[0], []


def pairs_played(study: Study) -> int:
    counted = StudyEpisode.objects.filter(study=study).order_by().values("number").annotate(sides=Count("pk"))
    return counted.filter(sides=len(SIDES)).count()


def waiting_before(study: Study) -> int:
    """Open studies that were asked for earlier."""
    rows = Study.objects.filter(state__in=Study.OPEN, created_at__lte=study.created_at)
    return rows.exclude(pk=study.pk).count()
