"""How long a turn may take: what its task says, within what the operator allows."""

from __future__ import annotations

from django.conf import settings

from simulation import catalogue
from simulation.catalogue_tasks import Task
from simulation.contracts import Limits


def limits_of(instruction: str, scene_id: str) -> Limits:
    """Of a turn in the scene. They depend on the instruction alone: both sides get the same, whoever plays."""
    return _within(catalogue.limits_for(instruction, scene_id))


def of_task(task: Task) -> Limits:
    return _within(task.limits)


def of_free_text() -> Limits:
    return _within(Limits())


def _within(limits: Limits) -> Limits:
    steps, seconds = int(settings.ROLLOUT_MAX_STEPS), float(settings.ROLLOUT_WALL_S)
    return Limits(min(limits.max_steps, steps), min(limits.wall_s, seconds), limits.infer_s)
