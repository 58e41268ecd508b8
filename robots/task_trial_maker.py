"""Draws, checks and plays a moderator's task. For workers only; nothing of it is stored as an episode."""

from __future__ import annotations

import logging
from typing import Any

from django.utils import timezone

from policies.base import PolicyError
from policies.models import Policy
from robots import published_tasks
from robots.models import TaskTrial
from simulation import pictures
from simulation.additions import Addition
from simulation.contracts import SimulationError
from simulation.environment import Environment
from simulation.task_check import check_text

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
        return _start(draft, trial.seed)
    from robots.task_trial_player import played  # torch, which the drawing worker does without

    return played(draft, trial)


def _faults(trial: TaskTrial) -> list[str]:
    """The text's, and only if it has none, those of its goals at the first states."""
    found = published_tasks.faults_of(trial.yaml, trial.task_id)
    return found or list(check_text(trial.yaml, published_tasks.SOURCE, SEEDS_CHECKED).faults)


def _start(draft: Addition, seed: int) -> Made:
    """Positions for the viewer, and a picture for browsers that cannot show them."""
    place = {"robot_id": draft.task.robot_id, "scene_id": draft.task.scene_id}
    positions = Environment(draft.task.robot_id, draft.task.scene_id).reset(seed).qpos
    return {"qpos": positions.tolist()}, pictures.still_of(place, positions)
