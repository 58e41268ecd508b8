"""Keeping a gold battle from being told by its speed: references need no network and would end before anybody else."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from arena.models import Purpose, Rollout, RolloutStatus
from simulation.contracts import BaseListener, StartState, StepRecord

LOOKED_AT = 50
"""How many of the last rollouts say what is usual."""


class Pace(BaseListener):
    """Holds every step back until `seconds` for each step so far have gone by."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = seconds, clock
        self._began, self._steps = 0.0, 0

    def on_start(self, start: StartState) -> None:
        self._began, self._steps = self._clock(), 0

    def on_step(self, record: StepRecord) -> None:
        self._steps += 1
        ahead = self._began + self._steps * self._seconds - self._clock()
        if ahead > 0:
            time.sleep(ahead)


def paces(rollout: Rollout) -> list[Pace]:
    """What to listen with besides the recorder: nothing, except in a gold battle."""
    if rollout.turn.battle.purpose != Purpose.GOLD:
        return []
    return [Pace(usual_step_s())]


def usual_step_s() -> float:
    """Seconds that a contestant takes for a step, by the last rollouts: their median; 0 before the first."""
    played = Rollout.objects.filter(status=RolloutStatus.COMPLETED, model__reference=False, steps_done__gt=0)
    last = played.order_by("-pk").values_list("duration_ms", "steps_done")[:LOOKED_AT]
    taken = [duration / steps / 1000.0 for duration, steps in last if duration is not None]
    return statistics.median(taken) if taken else 0.0
