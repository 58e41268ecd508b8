"""Which contestants a worker plays, and announcing it. Loads neither networks nor physics.

`ARENA_WORKER_KINDS` names its kinds, and `ARENA_WORKER_POLICIES` the contestants: ids or patterns (`film-*`), and with
a minus those left to other workers (`*,-openvla-7b`). A worker takes attempts from one queue per contestant. Every few
seconds it announces what it hosts and what renders there (`arena.models.Hosting`). Both sides of a turn are rendered
alike: attempts that need another renderer go to a second queue per contestant, which only workers with that renderer
read.
"""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from arena import kinds
from arena.kinds import Kind
from arena.models import FOLDER_TROUBLE, MEMORY_TROUBLE, Contestant, ContestantStatus, Hosting, live_between

log = logging.getLogger(__name__)
ANNOUNCE_S = 5.0
AUTOMATIC = (FOLDER_TROUBLE, MEMORY_TROUBLE)
FORGOTTEN_AFTER = timedelta(hours=1)
HOSTED = """
SELECT DISTINCT hosting.contestant_id, hosting.trouble, models.status, models.reference, hosting.render_profile
FROM hostings AS hosting JOIN models ON models.id = hosting.contestant_id
WHERE hosting.seen_at BETWEEN %s AND %s
"""
"""By hand, as every battle and turn asks it: Django takes longer to build the query than the engine to answer it."""


@dataclass
class Worker:
    """This worker: its node name, how many processes play attempts, how many threads in each, and what renders there
    ("" if not known yet).
    """

    name: str = "unnamed"
    processes: int = 1
    threads: int = 1
    render_profile: str = ""


this = Worker()  # filled when a worker starts, before its processes are forked


def kinds_here() -> list[Kind]:
    """The kinds that this worker plays."""
    return [kind for kind in kinds.offered() if not settings.WORKER_KINDS or kind.id in settings.WORKER_KINDS]


def queue_of(model_id: str, profile: str = "") -> str:
    """The queue of a contestant's attempts; with a profile, of those for workers that render with it."""
    which = f".{hashlib.sha256(profile.encode()).hexdigest()[:12]}" if profile else ""
    return f"{settings.PREFIX}rollouts.{model_id}{which}"


def queues_of(model_ids: Iterable[str]) -> set[str]:
    """The queues from which this worker takes the attempts of these contestants."""
    return {queue_of(model_id, profile) for model_id in model_ids for profile in ("", this.render_profile)}


def is_hosted_here(model_id: str) -> bool:
    patterns = settings.WORKER_POLICIES
    left_out = any(fnmatchcase(model_id, pattern[1:]) for pattern in patterns if pattern.startswith("-"))
    included = [pattern for pattern in patterns if not pattern.startswith("-")] or ["*"]
    return not left_out and any(fnmatchcase(model_id, pattern) for pattern in included)


def hosted() -> list[Contestant]:
    """Every contestant that this worker plays. Status does not matter, because running battles go on."""
    registered = (each for kind in kinds_here() for each in kind.hosted())
    return [each for each in registered if is_hosted_here(each.id)]


def is_to_be_opened(contestant: Contestant) -> bool:
    """Whether a worker opens it at its start: it may be drawn, or a worker could not open it before."""
    return not contestant.reference and _is_active_or_noted(contestant)


def announce() -> set[str]:
    """Announce what this worker hosts. Answers the ids of the contestants whose attempts it should take.

    A contestant that it cannot play is left to workers that can. If there are none, its attempts are taken here and
    fail with the reason.
    """
    now, mine = timezone.now(), hosted()
    Hosting.objects.bulk_create(
        [Hosting(contestant=each, seen_at=now, **_of_this_worker()) for each in mine],
        update_conflicts=True,
        unique_fields=["worker", "contestant"],
        update_fields=["device", "slots", "render_profile", "seen_at"],
    )
    own = Hosting.objects.filter(worker=this.name)
    own.exclude(contestant__in=[each.id for each in mine]).delete()
    Hosting.objects.filter(seen_at__lt=now - FORGOTTEN_AFTER).delete()
    troubled = set(own.exclude(trouble="").values_list("contestant_id", flat=True))
    elsewhere = set(Hosting.objects.able().exclude(worker=this.name).values_list("contestant_id", flat=True))
    return {each.id for each in mine} - (troubled & elsewhere)


def withdraw() -> None:
    """Announce that this worker hosts nothing any more."""
    Hosting.objects.filter(worker=this.name).delete()


def _of_this_worker() -> dict[str, Any]:
    return {
        "worker": this.name,
        "device": settings.WORKER_DEVICE,
        "slots": this.processes * this.threads,
        "render_profile": this.render_profile,
    }


def unknown_names() -> list[str]:
    """Names and patterns in ARENA_WORKER_POLICIES that match no registered contestant."""
    known = list(Contestant.objects.values_list("id", flat=True))
    names = [pattern.removeprefix("-") for pattern in settings.WORKER_POLICIES]
    return [name for name in names if not any(fnmatchcase(each, name) for each in known)]


@dataclass(frozen=True)
class Hosts:
    """What live workers announce. `any_announced`: whether any of them announces anything. `contestants`: those that
    they can play and that may be drawn for a blind battle. `profiles`: what renders where each contestant can be
    played; "" where that is not announced yet."""

    any_announced: bool
    contestants: frozenset[str]
    profiles: Mapping[str, frozenset[str]]

    def profile_for(self, model_ids: Iterable[str], wanted: str = "") -> str | None:
        """What to render both sides of a turn with: `wanted`, if all these contestants can be played so.

        Otherwise a profile that they have in common, "" if the first worker is to choose, and None if there is none.
        """
        announced = [self.profiles[each] for each in model_ids if "" not in self.profiles.get(each, {""})]
        if not announced or (wanted and all(wanted in profiles for profiles in announced)):
            return wanted
        common, offered = frozenset.intersection(*announced), frozenset.union(*announced)
        if not common:
            return None
        return "" if len(offered) == 1 else min(common)

    def can_meet(self, one: str, other: str) -> bool:
        """Whether the two can be rendered alike."""
        return self.profile_for([one, other]) is not None

    def renders(self, model_id: str, profile: str) -> bool:
        """Whether some live worker plays it with this profile, or has not announced its own. "" fits every worker."""
        return not profile or not self.profiles.get(model_id, frozenset([""])).isdisjoint(["", profile])

    def unhosted(self, model_ids: Iterable[str]) -> list[str]:
        """Those contestants that no live worker can play; none while no worker announces anything.

        No query, unless one of them seems to have no worker.
        """
        asked = set(model_ids)
        if not self.any_announced or asked <= self.profiles.keys():
            return []
        playable = set(Contestant.objects.filter(pk__in=asked).playable().values_list("pk", flat=True))
        return sorted(asked - playable)


def hosts() -> Hosts:
    """What is hosted now: one query."""
    moments = map(connection.ops.adapt_datetimefield_value, live_between())
    with connection.cursor() as cursor:
        cursor.execute(HOSTED, [*moments])
        rows = cursor.fetchall()
    contestants, profiles = set(), defaultdict(set)
    for model_id, trouble, status, reference, profile in rows:
        if trouble:
            continue
        profiles[model_id].add(profile)
        if status == ContestantStatus.ACTIVE and not reference:
            contestants.add(model_id)
    frozen = {model_id: frozenset(found) for model_id, found in profiles.items()}
    return Hosts(any_announced=bool(rows), contestants=frozenset(contestants), profiles=frozen)


def can_play_elsewhere(contestant: Contestant, profile: str = "") -> bool:
    """Whether another live worker can play it; with a profile, one that renders with it or has announced none."""
    others = Hosting.objects.able().filter(contestant=contestant.pk).exclude(worker=this.name)
    return (others.filter(render_profile__in=["", profile]) if profile else others).exists()


def note_trouble(contestant: Contestant, story: str) -> None:
    """Record that this worker cannot play the contestant. If no other can either, it becomes unavailable.

    `story` is the reason. It begins with one of AUTOMATIC, so that it can be taken back.
    """
    Hosting.objects.update_or_create(
        contestant_id=contestant.pk, worker=this.name, defaults={"trouble": story[:500], **_of_this_worker()}
    )
    contestant.refresh_from_db(fields=["status", "status_reason"])
    if not can_play_elsewhere(contestant) and _is_active_or_noted(contestant):
        contestant.mark_unavailable(story)


def note_success(contestant: Contestant) -> None:
    """Record that this worker can play the contestant, and take back what workers and seeding noted against it."""
    contestant.refresh_from_db(fields=["status", "status_reason"])
    if _has_automatic_note(contestant):
        contestant.activate()
    Hosting.objects.filter(worker=this.name, contestant=contestant.pk).exclude(trouble="").update(trouble="")


def _is_active_or_noted(contestant: Contestant) -> bool:
    return contestant.status == ContestantStatus.ACTIVE or _has_automatic_note(contestant)


def _has_automatic_note(contestant: Contestant) -> bool:
    return contestant.status == ContestantStatus.UNAVAILABLE and contestant.status_reason.startswith(AUTOMATIC)
