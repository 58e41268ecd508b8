"""The expert sets a thing down at the nearest side of another: who has come half the way goes on to the same one."""

from __future__ import annotations

import numpy as np

from simulation import catalogue
from simulation.environment import Environment
from simulation.expert import act

SEEDS = 9
DETOUR = 0.01  # of the median way, over the straight one [m]


def detour(environment: Environment, seed: int) -> float:
    """By how much the thing's way is longer than the straight one to where it comes to stand beside the other [m]."""
    environment.reset(seed)
    task = catalogue.task("next_to")
    slots = dict(task.slots[seed % len(task.slots)])
    environment.set_task((task.id, slots))
    start, other = (environment.view.position(slots[name])[:2].copy() for name in ("object", "other"))
    for _ in range(task.max_steps):
        if environment.step(act(environment, environment.goal)).judgement.success:
            break
    end = environment.view.position(slots["object"])[:2]
    apart = float(np.hypot(*(end - other)))
    return float(np.hypot(*(end - start))) + apart - float(np.hypot(*(other - start)))


def test_a_thing_comes_to_stand_at_the_side_from_which_it_came(environment: Environment) -> None:
    assert np.median([detour(environment, seed) for seed in range(SEEDS)]) < DETOUR
