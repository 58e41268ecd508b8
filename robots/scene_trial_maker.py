"""Draws, checks and plays a moderator's scene. For the drawing worker; nothing of it is stored as an episode."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from robots import published_scenes, published_tasks, scene_rows
from robots.limits import of_task
from robots.models import SceneTrial
from simulation import additions, catalogue, composed, pictures
from simulation.additions import Addition
from simulation.bundle import hashed_name, manifest_of
from simulation.composed import Composed
from simulation.contracts import Chunking, SimulationError
from simulation.environment import Environment
from simulation.expert import ScriptedExpert
from simulation.runner import run_episode
from simulation.scene_check import check_text
from simulation.scene_plans import renamed
from simulation.scene_tasks import tasks_of
from simulation.worlds import load_world

log = logging.getLogger(__name__)
SEEDS_CHECKED = 10
What = SceneTrial.What


@dataclass(frozen=True)
class Made:
    """The columns of a trial that is done."""

    result: dict[str, Any]
    picture: bytes = b""
    manifest: dict[str, Any] | None = None
    xml: str = ""


def make(pk: int) -> None:
    """Do what was asked for, once. What goes wrong is told to the moderator."""
    trial = SceneTrial.objects.filter(pk=pk, done_at=None).first()
    if trial is None:
        return
    published_tasks.refresh()
    try:
        made = _made(trial)
    except SimulationError as error:
        made = Made({"error": str(error)})
    except Exception as error:  # the task's edge: the moderator must learn that nothing comes
        log.exception("%s failed", trial)
        made = Made({"error": f"{type(error).__name__}: {error}"[:500]})
    columns = {"result": made.result, "picture": made.picture, "manifest": made.manifest or {}, "xml": made.xml}
    SceneTrial.objects.filter(pk=pk).update(**columns, done_at=timezone.now())


def checked(text: str, pk: int | None, seeds: int = SEEDS_CHECKED) -> Made:
    """The text's faults, and if it has none, what browsers load of it. `pk`: its own row."""
    faults = published_scenes.faults_of(text, pk) or check_text(text, scene_rows.SOURCE, seeds)
    if faults:
        return Made({"faults": faults})
    draft = scene_rows.read(text)
    with _trying(draft) as (environment, _):
        return Made({"faults": []}, b"", *_for_browsers(draft, environment))


def _made(trial: SceneTrial) -> Made:
    if trial.what == What.CHECK:
        return checked(trial.yaml, trial.scene_id)
    draft = scene_rows.read(trial.yaml)
    with _trying(draft) as (environment, tasks):
        if trial.what == What.START:
            return _start(draft, environment, trial.seed)
        return _played(environment, tasks, trial.seed)


@contextmanager
def _trying(draft: Composed) -> Iterator[tuple[Environment, Sequence[Addition]]]:
    """Its environment and tasks, under an id of this very text, by which caches tell it from other drafts."""
    digest = hashlib.sha256(repr((draft.plan, draft.scene.name)).encode()).hexdigest()[:8]
    made = renamed(draft, f"{draft.scene.id}_{digest}")
    with composed.trying(made):
        tasks = tasks_of(made)
        with additions.trying(*tasks):
            yield Environment(made.scene.robots[0], made.scene.id), tasks


def _for_browsers(draft: Composed, environment: Environment) -> tuple[dict[str, Any], str]:
    """Manifest and XML under its own id, which nothing keeps before it is published."""
    with composed.trying(draft):
        world = load_world.__wrapped__(environment.world.robot_id, draft.scene.id)
    own = {"scene_id": draft.scene.id, "scene_hash": world.scene_hash}
    return {**manifest_of(environment), **own, "xml": hashed_name("scene.xml", world.xml.encode())}, world.xml


def _start(draft: Composed, environment: Environment, seed: int) -> Made:
    positions = environment.reset(seed).qpos
    told = {"qpos": positions.tolist(), "left_out": list(environment.absent)}
    return Made(told, pictures.still_of(_place(environment), positions), *_for_browsers(draft, environment))


def _played(environment: Environment, tasks: Sequence[Addition], seed: int) -> Made:
    """What the expert makes of one filling of each task, each from the seed's first state. Picture: the last end."""
    told, end = [], environment.reset(seed).qpos
    for added in tasks:
        environment.reset(seed)
        here = [slots for slots in added.task.slots if {*slots.values()}.isdisjoint(environment.absent)]
        if not here:
            continue
        instruction = catalogue.phrasings_of(added.task, here[seed % len(here)])[0].text
        expert = ScriptedExpert(environment)
        result = run_episode(environment, expert, instruction, seed, (), of_task(added.task), Chunking(execute=1), ())
        environment.set_task(None)
        end = environment.state().qpos
        told.append({"instruction": instruction, "success": result.success, "steps": result.steps})
    return Made({"rollouts": told}, pictures.still_of(_place(environment), end))


def _place(environment: Environment) -> dict[str, Any]:
    return {"robot_id": environment.world.robot_id, "scene_id": environment.world.scene_id}
