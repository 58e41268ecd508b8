"""Which contestants a worker plays, and telling the others so. Loads neither networks nor physics.

`ARENA_WORKER_POLICIES` names them: ids or patterns (`film-*`), with a minus those left to others (`*,-openvla-7b`).
A worker takes attempts from one queue per contestant, and says every few seconds what it hosts
(`arena.models.Hosting`) and what renders there. Both sides of a turn are rendered alike: what another worker cannot
play for that, it leaves to those that can, on a second queue per contestant that is theirs.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Any

from django.conf import settings
from django.utils import timezone

from arena import kinds
from arena.models import FOLDER_TROUBLE, MEMORY_TROUBLE, Contestant, ContestantStatus, Hosting

log = logging.getLogger(__name__)
ANNOUNCE_S = 5.0
OURS = (FOLDER_TROUBLE, MEMORY_TROUBLE)
FORGOTTEN_AFTER = timedelta(hours=1)


@dataclass
class Worker:
    """This worker: its node name, how many processes play attempts, how many threads in each, and what renders there
    ("": not known yet).
    """

    name: str = "unnamed"
    processes: int = 1
    threads: int = 1
    render_profile: str = ""


this = Worker()  # filled when a worker starts, before its processes are forked


def queue_of(model_id: str, profile: str = "") -> str:
    """The queue on which a policy's attempts wait; with a profile, those for workers that render like that."""
    which = f".{hashlib.sha256(profile.encode()).hexdigest()[:12]}" if profile else ""
    return f"{settings.PREFIX}rollouts.{model_id}{which}"


def queues_of(model_ids: Iterable[str]) -> set[str]:
    """The queues from which this worker takes the attempts of these policies."""
    return {queue_of(model_id, profile) for model_id in model_ids for profile in ("", this.render_profile)}


def is_hosted_here(model_id: str) -> bool:
    wanted = settings.WORKER_POLICIES
    left_out = any(fnmatchcase(model_id, pattern[1:]) for pattern in wanted if pattern.startswith("-"))
    named = [pattern for pattern in wanted if not pattern.startswith("-")] or ["*"]
    return not left_out and any(fnmatchcase(model_id, pattern) for pattern in named)


def hosted() -> list[Contestant]:
    """Every contestant that this worker plays, whatever its status: battles that it is in go on."""
    registered = (each for kind in kinds.every() for each in kind.hosted())
    return [each for each in registered if is_hosted_here(each.id)]


def is_to_be_opened(contestant: Contestant) -> bool:
    """When a worker starts: one that may be drawn, or that a worker could not open before."""
    return not contestant.reference and (_is_active(contestant) or _has_our_note(contestant))


def announce() -> set[str]:
    """Say what this worker hosts; answers the ids of the policies whose attempts it should take.

    Those that it cannot play it leaves to workers that can; where there is none it takes them, and they fail with the
    reason.
    """
    now, mine = timezone.now(), hosted()
    words = _of_this_worker()
    Hosting.objects.bulk_create(
        [Hosting(contestant=each, seen_at=now, **words) for each in mine],
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
    """This worker hosts nothing any more."""
    Hosting.objects.filter(worker=this.name).delete()


def _of_this_worker() -> dict[str, Any]:
    return {
        "worker": this.name,
        "device": settings.WORKER_DEVICE,
        "slots": this.processes * this.threads,
        "render_profile": this.render_profile,
    }


def unknown_names() -> list[str]:
    """Names in ARENA_WORKER_POLICIES that stand for no registered policy."""
    known = list(Contestant.objects.values_list("id", flat=True))
    names = [pattern.removeprefix("-") for pattern in settings.WORKER_POLICIES]
    return [name for name in names if not any(fnmatchcase(each, name) for each in known)]


@dataclass(frozen=True)
class Hosts:
    """What live workers say they can play. `anybody`: whether any of them says anything."""

    anybody: bool
    playing: frozenset[str]
    contestants: frozenset[str]  # of them: those that may be drawn for a blind battle
    profiles: Mapping[str, frozenset[str]]  # of each of them: what renders where it can play; "": not said yet

    def profile_for(self, model_ids: Iterable[str], wanted: str = "") -> str | None:
        """What both sides of a turn are to be rendered with: as `wanted`, if all these policies can be played so.

        Else what they have in common, "" where that is for the first worker to say, and None where it is nothing.
        """
        said = [self.profiles[each] for each in model_ids if "" not in self.profiles.get(each, {""})]
        if not said or (wanted and all(wanted in profiles for profiles in said)):
            return wanted
        common, offered = frozenset.intersection(*said), frozenset.union(*said)
        if not common:
            return None
        return "" if len(offered) == 1 else min(common)

    def can_meet(self, one: str, other: str) -> bool:
        """Whether the two can be rendered alike."""
        return self.profile_for([one, other]) is not None

    def renders(self, model_id: str, profile: str) -> bool:
        """Whether some live worker can play it so, or has not said; any will do without a profile."""
        return not profile or not self.profiles.get(model_id, frozenset([""])).isdisjoint(["", profile])

    def unhosted(self, model_ids: Iterable[str]) -> list[str]:
        """Those of the policies that no live worker can play; none while no worker announces anything.

        No query, unless one of them seems to have no worker.
        """
        asked = set(model_ids)
        if not self.anybody or asked <= self.playing:
            return []
        playable = set(Contestant.objects.filter(pk__in=asked).playable().values_list("pk", flat=True))
        return sorted(asked - playable)


def hosts() -> Hosts:
    """What is hosted now: one query."""
    told = ("contestant_id", "trouble", "contestant__status", "contestant__reference", "render_profile")
    words = list(Hosting.objects.live().order_by().values_list(*told).distinct())
    able = [(policy_id, status, reference) for policy_id, trouble, status, reference, _ in words if not trouble]
    profiles: dict[str, set[str]] = {}
    for policy_id, trouble, _, _, profile in words:
        if not trouble:
            profiles.setdefault(policy_id, set()).add(profile)
    active = [(policy_id, reference) for policy_id, status, reference in able if status == ContestantStatus.ACTIVE]
    return Hosts(
        anybody=bool(words),
        playing=frozenset(policy_id for policy_id, *_ in able),
        contestants=frozenset(policy_id for policy_id, reference in active if not reference),
        profiles={policy_id: frozenset(found) for policy_id, found in profiles.items()},
    )


def can_play_elsewhere(contestant: Contestant, profile: str = "") -> bool:
    """On another live worker; with a profile, on one that renders like that, or has not said yet."""
    others = Hosting.objects.able().filter(contestant=contestant.pk).exclude(worker=this.name)
    return (others.filter(render_profile__in=["", profile]) if profile else others).exists()


def note_trouble(contestant: Contestant, story: str) -> None:
    """This worker cannot play the contestant. Where no other can either, it is unavailable, with the reason.

    `story` begins with one of OURS, so that it can be taken back.
    """
    Hosting.objects.update_or_create(
        contestant_id=contestant.pk, worker=this.name, defaults={"trouble": story[:500], **_of_this_worker()}
    )
    contestant.refresh_from_db(fields=["status", "status_reason"])
    if not can_play_elsewhere(contestant) and (_is_active(contestant) or _has_our_note(contestant)):
        contestant.mark_unavailable(story)


def note_success(contestant: Contestant) -> None:
    """This worker can play the contestant; what workers and seeding noted against it is over."""
    contestant.refresh_from_db(fields=["status", "status_reason"])
    if _has_our_note(contestant):
        contestant.activate()
    Hosting.objects.filter(worker=this.name, contestant=contestant.pk).exclude(trouble="").update(trouble="")


def _is_active(contestant: Contestant) -> bool:
    return contestant.status == ContestantStatus.ACTIVE


def _has_our_note(contestant: Contestant) -> bool:
    return contestant.status == ContestantStatus.UNAVAILABLE and contestant.status_reason.startswith(OURS)
