"""Draws, checks and plays a moderator's task. For workers only; nothing of it is stored as an episode."""

from __future__ import annotations

import logging
from contextlib import closing
from typing import Any

from django.utils import timezone

from policies.base import PolicyError
from policies.models import Policy
from robots import play, published_tasks
from robots.limits import of_task
from robots.models import TaskTrial
from simulation import additions, catalogue, pictures
from simulation.additions import Addition
from simulation.cameras import render_profile
from simulation.contracts import PolicyFailure, SimulationError
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.recorder import Recorder
from simulation.task_check import check_text
from simulation.variation import NO_VARIATION

log = logging.getLogger(__name__)
SEEDS_CHECKED = 20
What = TaskTrial.What
Made = tuple[dict[str, Any], bytes]


def make(pk: int) -> None:
    """Do what was asked for, once. What goes wrong is told to the moderator."""
    trial = TaskTrial.objects.filter(pk=pk, done_at=None).first()
    if trial is None:
        return
    published_tasks.refresh()
    try:
        result, picture = _made(trial)
    except (SimulationError, PolicyError, Policy.DoesNotExist) as error:
        result, picture = {"error": str(error)}, b""
    except Exception as error:  # the task's edge: the moderator must learn that nothing comes
        log.exception("%s failed", trial)
        result, picture = {"error": f"{type(error).__name__}: {error}"[:500]}, b""
    TaskTrial.objects.filter(pk=pk).update(result=result, picture=picture, done_at=timezone.now())


def _made(trial: TaskTrial) -> Made:
    if trial.what == What.CHECK:
        return {"faults": _faults(trial)}, b""
    draft = published_tasks.read(trial.yaml)
    if trial.what == What.START:
        return {}, _start(draft, trial.seed)
    return _played(draft, trial)


def _faults(trial: TaskTrial) -> list[str]:
    """The text's, and only if it has none, those of its goals at the first states."""
    found = published_tasks.faults_of(trial.yaml, trial.task_id)
    return found or list(check_text(trial.yaml, published_tasks.SOURCE, SEEDS_CHECKED).faults)


def _start(draft: Addition, seed: int) -> bytes:
    environment = Environment(draft.task.robot_id, draft.task.scene_id)
    return pictures.still_of(_place(draft), environment.reset(seed).qpos)


def _place(draft: Addition) -> dict[str, Any]:
    return {"robot_id": draft.task.robot_id, "scene_id": draft.task.scene_id}


def _played(draft: Addition, trial: TaskTrial) -> Made:
    """From the seed's first state, with the filling and the first wording that the seed chooses."""
    task = draft.task
    slots = task.slots[trial.seed % len(task.slots)]
    instruction = catalogue.phrasings_of(task, slots)[0].text
    runtime = play.runtime()
    environment = runtime.environment(task.robot_id, task.scene_id)
    policy = Policy.objects.get(pk=trial.model_id)
    player = runtime.player(policy, task.robot_id, task.scene_id)
    recorder = Recorder()
    with additions.trying(draft), closing(player):
        environment.set_variation(NO_VARIATION)
        environment.reset(trial.seed)
        try:
            result = player.play(environment, instruction, trial.seed, [recorder], of_task(task))
        except PolicyFailure as failure:
            runtime.drop(policy)
            return {"instruction": instruction, "error": failure.reason}, b""
        finally:
            environment.set_task(None)  # the next rollout's worker must not judge by a draft
    document = build_document(_place(draft), recorder.recording, environment, render_profile())
    told = {"instruction": instruction, "success": result.success, "progress": result.progress, "steps": result.steps}
    return {**told, "termination_reason": result.termination_reason}, pictures.still(document)
