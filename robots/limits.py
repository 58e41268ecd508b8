"""How long a turn may take: what its task says, within what the operator allows."""

from __future__ import annotations

from django.conf import settings

from simulation import catalogue
from simulation.catalogue_tasks import Task
from simulation.contracts import CONTROL_HZ, Limits
from simulation.view_format import steps_in


def limits_of(instruction: str, scene_id: str, control_hz: int = CONTROL_HZ) -> Limits:
    """Of a turn in the scene at a control rate. They depend on the instruction alone: both sides get the same, whoever
    plays.
    """
    return _within(catalogue.limits_for(instruction, scene_id, control_hz), control_hz)


def of_task(task: Task) -> Limits:
    return _within(task.limits(), CONTROL_HZ)


def of_free_text() -> Limits:
    return _within(Limits(), CONTROL_HZ)


def _within(limits: Limits, control_hz: int) -> Limits:
    steps, seconds = steps_in(int(settings.ROLLOUT_MAX_STEPS), control_hz), float(settings.ROLLOUT_WALL_S)
    return Limits(min(limits.max_steps, steps), min(limits.wall_s, seconds), limits.infer_s)
