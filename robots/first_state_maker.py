"""Makes the first states that battles show before their first instruction. For workers only.

A thread of its own does it, in 2 ms each: visitors do not wait behind turns that are played.
"""

from __future__ import annotations

import logging
import threading
from functools import cache
from typing import Any

import numpy as np
from django.utils import timezone

from robots.models import FirstState
from simulation.contracts import SimulationError
from simulation.environment import Environment
from simulation.view_format import pack

log = logging.getLogger(__name__)
AT_ONCE = 50
_thread = threading.local()


def make_asked() -> int:
    """Make the first states that were asked for, oldest first; answers how many. One query if there are none."""
    asked = FirstState.objects.filter(made_at=None).order_by("asked_at")[:AT_ONCE]
    places = ("battle_id", "battle__seed", "battle__session__setting", "battle__session__scene")
    rows = list(asked.values_list(*places))
    for battle_id, seed, robot_id, scene_id in rows:
        made = _columns(robot_id, scene_id, seed)
        FirstState.objects.filter(pk=battle_id, made_at=None).update(**made, made_at=timezone.now())
    return len(rows)


def _columns(robot_id: str, scene_id: str, seed: int) -> dict[str, Any]:
    """The packed view row of a seed's first state, and what the seed left out; nothing for a scene that there is no
    more."""
    try:
        environment = environment_of(robot_id, scene_id)
    except SimulationError as error:
        log.warning("%s, %s has no first states: %s", robot_id, scene_id, error)
        return {}
    row = pack(environment.reset(seed).qpos[np.newaxis], environment.world.view_scale)
    return {"row": row, "left_out": environment.left_out()}


def environment_of(robot_id: str, scene_id: str) -> Environment:
    """This thread's own: physics is not shared."""
    if not hasattr(_thread, "environments"):
        _thread.environments = cache(Environment)
    found: Environment = _thread.environments(robot_id, scene_id)
    return found
