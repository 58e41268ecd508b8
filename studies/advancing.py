"""Plays a part of a study. For workers only: nothing of it is stored as an episode, and no battle knows of it."""

from __future__ import annotations

import gzip
import logging
import secrets
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.models import Attempt, AttemptStatus
from arena.queue import hosting
from arena.queue.sweeps import worker_name
from policies.base import PolicyError
from policies.models import Policy
from proportions.sequential import evidence
from robots import evaluation, play, published_tasks
from robots.evaluation import Case
from robots.limits import limits_of
from robots.studies import comparing
from robots.studies.playing import FAILED, Outcome, Pair, pair_of, play_case
from robots.studies.report import report
from robots.studies.study import MOST_IN_A_ROW, in_turn, keeps_failing
from simulation import additions
from simulation.contracts import Listener, SimulationError, StepRecord
from simulation.variation import NO_VARIATION
from simulation.worlds import engine_version
from studies import queueing
from studies.asking import changed_policies
from studies.models import Study, StudyEpisode, StudyReport

log = logging.getLogger(__name__)
State = Study.State
LEASE = timedelta(seconds=45)
"""Longer than one inference may take. After a worker's death the study rests for so long."""
RENEWED_EVERY_S = 2.0
PART_S = 5.0
"""After so long a part ends with the episode that is being played."""
REPLAYS = 8


class Stopped(Exception):
    """The study was cancelled or deleted, or another worker plays it."""


class StudyFails(Exception):
    """With what its owner reads."""


def advance(pk: int) -> None:
    """Play the next part, unless somebody does. A duplicate or late message does nothing."""
    lease = Lease.of(pk)
    if lease is None:
        return
    study = lease.study
    try:
        if not _renders_here(study):
            lease.release()
            queueing.send(study)
            return
        with additions.as_of(study.created_at):
            is_over = _play_part(study, lease)
    except Stopped:
        log.info("%s is not played on", study.study_id)
    except StudyFails as failure:
        _fail(study, str(failure))
    except SoftTimeLimitExceeded:
        _fail(study, "An episode took too long.")
    except (SimulationError, PolicyError) as error:
        log.error("%s failed: %s", study.study_id, error)
        _fail(study, f"The worker could not play it ({getattr(error, 'code', 'simulation_error')}).")
    except Exception:  # the task's edge: the study must end with a reason
        log.exception("%s failed", study.study_id)
        _fail(study, "The worker could not play it (internal).")
    else:
        if lease.release() and not is_over and not visitors_wait():
            queueing.send(study)
        if is_over:
            queueing.tend()


class Lease(Listener):
    """The right to play a study, renewed while its episodes go on."""

    def __init__(self, study: Study, holder: str) -> None:
        self.study = study
        self._holder = holder
        self._renewed = time.monotonic()

    @classmethod
    def of(cls, pk: int) -> Lease | None:
        """None if it is over, or another holds it."""
        now, holder = timezone.now(), f"{worker_name()}:{secrets.token_hex(4)}"
        free = Q(leased_until=None) | Q(leased_until__lt=now) | Q(leased_until__gt=now + 2 * LEASE)  # a clock set back
        rows = Study.objects.filter(free, pk=pk, state__in=Study.OPEN)
        if not rows.update(leased_by=holder, leased_until=now + LEASE, state=State.PLAYING):
            return None
        return cls(Study.objects.select_related("owner").get(pk=pk), holder)

    def on_step(self, record: StepRecord) -> None:
        if time.monotonic() - self._renewed > RENEWED_EVERY_S:
            self.renew()

    def renew(self) -> None:
        """Raises Stopped if it is lost."""
        self._renewed = time.monotonic()
        if not self._held().update(leased_until=timezone.now() + LEASE):
            raise Stopped

    def release(self) -> bool:
        """Whether it was still held."""
        return bool(self._held().update(leased_by="", leased_until=None, sent_at=None))

    def _held(self) -> Any:
        return Study.objects.filter(pk=self.study.pk, leased_by=self._holder, state__in=Study.OPEN)


def visitors_wait() -> bool:
    """Whether an attempt of a visitor waits for a worker like this one."""
    here = [each.pk for each in hosting.hosted()]
    return Attempt.objects.filter(status=AttemptStatus.QUEUED, model_id__in=here).exists()


def _renders_here(study: Study) -> bool:
    """Whether pictures look here as on the workers that have played it; the first one decides."""
    profile = play.runtime().render_profile
    if not study.render_profile:
        study.render_profile = profile
        Study.objects.filter(pk=study.pk).update(render_profile=profile)
    return study.render_profile == profile


def _play_part(study: Study, lease: Lease) -> bool:
    """Answers whether the study is over."""
    if changed := changed_policies(study):
        raise StudyFails(f"{' and '.join(changed)} changed while it was played: ask for a new study.")
    published_tasks.refresh()
    cases = _cases(study.pk, *_plan_of(study))
    side, numbers = queueing.next_part(study)
    _play_side(study, side, [(number, cases[number]) for number in numbers], lease)
    pairs = _pairs(study, cases)
    lease.renew()
    Study.objects.filter(pk=study.pk).update(pairs=len(pairs))
    if failing := keeps_failing(pairs):
        policy = study.a_id if failing[0] == "a" else study.b_id
        raise StudyFails(f"{policy} failed in {MOST_IN_A_ROW} episodes in a row, the last time with: {failing[1]}.")
    if len(pairs) < study.planned and (study.play_all or not _is_settled(study, pairs)):
        return False
    _end(study, pairs, State.COMPLETED)
    return True


def _play_side(study: Study, side: str, todo: Sequence[tuple[int, Case]], lease: Lease) -> None:
    runtime, until = play.runtime(), time.monotonic() + PART_S
    environment = runtime.environment(study.robot_id, study.scene_id)
    policy = Policy.objects.get(pk=study.a_id if side == "a" else study.b_id)
    try:
        opened = runtime.player(policy, study.robot_id, study.scene_id)
    except PolicyError as error:
        log.error("%s cannot be opened: %s", policy.pk, error)
        raise StudyFails(f"{policy.pk} cannot be opened by a worker ({error.code}).") from error
    with closing(opened) as player:
        environment.set_variation(NO_VARIATION)
        for number, case in todo:
            if time.monotonic() > until or visitors_wait():
                return
            lease.renew()
            limits = limits_of(case.instruction, study.scene_id, environment.world.control_hz)
            outcome = play_case(environment, player, case, [lease], limits)
            _keep(study, side, number, outcome)
            if outcome.ended == FAILED:
                runtime.drop(policy)
                return  # its state is unknown: the next part opens it anew


def _keep(study: Study, side: str, number: int, outcome: Outcome) -> None:
    """Times are not kept: on a machine that visitors share they say little, and might tell what plays beside it."""
    told = asdict(replace(outcome, infer_ms=0.0))
    StudyEpisode.objects.get_or_create(study=study, side=side, number=number, defaults={"outcome": told})


def _plan_of(study: Study) -> tuple[Any, ...]:
    return tuple(study.tasks), study.seeds, study.first_seed


@lru_cache(maxsize=4)
def _cases(pk: int, tasks: Sequence[str], seeds: int, first_seed: int) -> list[Case]:
    """Which are there depends on the study alone; a process keeps those of its last ones."""
    return in_turn(evaluation.cases(evaluation.TABLE, tasks, seeds, first_seed))


def _pairs(study: Study, cases: Sequence[Case]) -> list[Pair]:
    """In the order of the cases."""
    found: dict[int, dict[str, Outcome]] = {}
    for row in StudyEpisode.objects.filter(study=study).order_by("number"):
        found.setdefault(row.number, {})[row.side] = Outcome(**row.outcome)
    return [pair_of(cases[number], **sides) for number, sides in found.items() if len(sides) == len(queueing.SIDES)]


def _is_settled(study: Study, pairs: Sequence[Pair]) -> bool:
    return bool(pairs) and evidence(comparing.counts_of(pairs), study.margin)["verdict"] is not None


def _end(study: Study, pairs: Sequence[Pair], state: str, error: str = "") -> None:
    told: dict[str, Any] = {}
    page = ""
    if pairs:
        names = {"a": study.a_id, "b": study.b_id}
        told = comparing.compared(pairs, names, study.margin, study.planned, fixed=study.play_all)
        for side in queueing.SIDES:
            told[side]["infer_ms_per_step"] = None
        page = report(told, _told_plan(study), pairs, REPLAYS)
    columns = {"told": told, "state": state, "error": error[:500], "ended_at": timezone.now(), "pairs": len(pairs)}
    with transaction.atomic():
        rows = Study.objects.filter(pk=study.pk, state__in=Study.OPEN)
        if rows.update(**columns, leased_by="", leased_until=None) and page:
            StudyReport.objects.update_or_create(study=study, defaults={"page": gzip.compress(page.encode())})


def _fail(study: Study, reason: str) -> None:
    """End it with the reason, and with a report of what was played if one can be made."""
    try:
        with additions.as_of(study.created_at):
            _end(study, _pairs(study, _cases(study.pk, *_plan_of(study))), State.FAILED, reason)
    except Exception:  # whatever was wrong with it, it must not be taken up again and again
        log.exception("%s gets no report", study.study_id)
        _end(study, [], State.FAILED, reason)
    queueing.tend()


def _told_plan(study: Study) -> dict[str, Any]:
    return {
        "a": {"model_id": study.a_id, "revision": study.a_revision},
        "b": {"model_id": study.b_id, "revision": study.b_revision},
        "robot_id": study.robot_id,
        "scene_id": study.scene_id,
        "suite": evaluation.TABLE,
        "seed": study.first_seed,
        "engine": engine_version(),
    }
