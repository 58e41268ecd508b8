"""Asking for a study, and cancelling, resuming and deleting it. Nothing here touches votes, battles or rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from arena import kinds
from arena.errors import ArenaError, UnknownName
from arena.kinds import Place
from policies.models import ROBOTS, Policy
from robots.seeds import HELD_OUT_SEEDS
from simulation import catalogue
from simulation.catalogue_tasks import Task
from studies import limits, queueing
from studies.models import Study, StudyEpisode

World = tuple[str, str]
State = Study.State


class InvalidStudy(ArenaError):
    status, code = 422, "invalid_study"


class StudyClosed(ArenaError):
    status, code, detail = 409, "study_closed", "This study has ended: there is nothing to cancel."


class NotResumable(ArenaError):
    status, code = 409, "not_resumable"


@dataclass(frozen=True)
class Wanted:
    """`seeds`: pairs per task, from `first_seed` on. `margin`: a difference that does not matter, 0 for none."""

    a_id: str
    b_id: str
    robot_id: str
    scene_id: str
    tasks: Sequence[str]
    seeds: int
    first_seed: int = 0
    margin: float = 0.0
    play_all: bool = False


def worlds() -> list[World]:
    """In which studies are played: (robot, scene)."""
    return catalogue.offered_worlds()


def policies_for(world: World) -> QuerySet[Policy]:
    """Those that battles in this world may draw, by name."""
    able = kinds.get(ROBOTS).eligible(Place(*world)).values("pk")
    return Policy.objects.filter(pk__in=able).order_by("name").defer("description")


def tasks_for(world: World) -> list[Task]:
    return [task for task in catalogue.offered_tasks() if (task.robot_id, task.scene_id) == world]


def ask(owner: User, wanted: Wanted) -> Study:
    """Put a study at the end of the queue.

    Raises UnknownName, which lists the known ones, InvalidStudy, TooManyPairs, TooManyStudies and TooMany.
    """
    sides = _checked(wanted)
    pairs = wanted.seeds * len(wanted.tasks)
    limits.check_size(pairs)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=owner.pk)  # two calls at once must not pass the same limit
        limits.check_open(owner)
        limits.check_kept(owner)
        limits.spend_episodes(owner, pairs)
        study = Study.objects.create(
            owner=owner,
            a_id=wanted.a_id,
            b_id=wanted.b_id,
            a_revision=sides[wanted.a_id].revision,
            b_revision=sides[wanted.b_id].revision,
            robot_id=wanted.robot_id,
            scene_id=wanted.scene_id,
            tasks=list(wanted.tasks),
            seeds=wanted.seeds,
            first_seed=wanted.first_seed,
            margin=wanted.margin,
            play_all=wanted.play_all,
        )
    queueing.tend()
    return study


def cancel(study: Study) -> None:
    """What was played is kept. Raises StudyClosed."""
    columns = {"state": State.CANCELLED, "ended_at": timezone.now(), "leased_by": "", "leased_until": None}
    if not Study.objects.filter(pk=study.pk, state__in=Study.OPEN).update(**columns):
        raise StudyClosed
    queueing.tend()


def resume(study: Study) -> None:
    """Go on with a cancelled or failed study. Pairs in which a policy failed are played anew.

    Raises NotResumable and TooManyStudies.
    """
    if study.state not in (State.CANCELLED, State.FAILED):
        raise NotResumable(f"Only a cancelled or failed study can be resumed; this one is {study.state}.")
    if changed := changed_policies(study):
        raise NotResumable(f"{' and '.join(changed)} changed since: ask for a new study.")
    with transaction.atomic():
        User.objects.select_for_update().get(pk=study.owner_id)
        limits.check_open(study.owner)
        failed = StudyEpisode.objects.filter(study=study).exclude(outcome__error="").values_list("number", flat=True)
        StudyEpisode.objects.filter(study=study, number__in=list(failed)).delete()
        fresh: dict[str, Any] = {"state": State.WAITING, "error": "", "told": {}, "ended_at": None, "sent_at": None}
        Study.objects.filter(pk=study.pk).update(**fresh, pairs=queueing.pairs_played(study))
    queueing.tend()


def delete(study: Study) -> None:
    """With all that it played and its report. A worker that plays it stops."""
    study.delete()
    queueing.tend()


def changed_policies(study: Study) -> list[str]:
    """Its policies that are gone, or have another revision than when it was asked for."""
    now = dict(Policy.objects.filter(pk__in=[study.a_id, study.b_id]).values_list("pk", "revision"))
    asked = {study.a_id: study.a_revision, study.b_id: study.b_revision}
    return [model_id for model_id, revision in asked.items() if now.get(model_id) != revision]


def _checked(wanted: Wanted) -> dict[str, Policy]:
    """Its policies, by id."""
    world = (wanted.robot_id, wanted.scene_id)
    if world not in worlds():
        raise UnknownName("world", ["/".join(each) for each in worlds()])
    able = {policy.pk: policy for policy in policies_for(world)}
    if not {wanted.a_id, wanted.b_id} <= able.keys():
        raise UnknownName("model", able)
    if wanted.a_id == wanted.b_id:
        raise InvalidStudy("A study compares two policies: a and b must differ.")
    known = [task.id for task in tasks_for(world)]
    if not set(wanted.tasks) <= set(known):
        raise UnknownName("task", known)
    if not wanted.tasks or len(set(wanted.tasks)) < len(wanted.tasks):
        raise InvalidStudy("Expected at least one task, and each once.")
    if wanted.seeds < 1 or not 0 <= wanted.first_seed <= HELD_OUT_SEEDS - wanted.seeds:
        raise InvalidStudy(f"Expected at least one seed, all within 0..{HELD_OUT_SEEDS - 1}.")
    if not 0 <= wanted.margin < 1:
        raise InvalidStudy("Expected a margin of 0 or more and less than 1.")
    return able
