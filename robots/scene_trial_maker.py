"""Draws, checks and plays a moderator's scene. For the drawing worker; nothing of it is stored as an episode."""

from __future__ import annotations

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
from simulation.scene_tasks import tasks_of

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
        return Made({"faults": []}, b"", *_for_browsers(environment))


def _made(trial: SceneTrial) -> Made:
    if trial.what == What.CHECK:
        return checked(trial.yaml, trial.scene_id)
    draft = scene_rows.read(trial.yaml)
    with _trying(draft) as (environment, tasks):
        if trial.what == What.START:
            return _start(environment, trial.seed)
        return _played(environment, tasks, trial.seed)


@contextmanager
def _trying(draft: Composed) -> Iterator[tuple[Environment, Sequence[Addition]]]:
    """Its environment and its tasks."""
    with composed.trying(draft):
        tasks = tasks_of(draft)
        with additions.trying(*tasks):
            yield Environment(draft.scene.robots[0], draft.scene.id), tasks


def _for_browsers(environment: Environment) -> tuple[dict[str, Any], str]:
    """Manifest and XML."""
    xml = environment.world.xml
    return {**manifest_of(environment), "xml": hashed_name("scene.xml", xml.encode())}, xml


def _start(environment: Environment, seed: int) -> Made:
    positions = environment.reset(seed).qpos
    told = {"qpos": positions.tolist(), "left_out": list(environment.absent)}
    return Made(told, pictures.still_of(_place(environment), positions), *_for_browsers(environment))


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
