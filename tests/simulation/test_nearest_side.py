"""The expert sets a thing down at the nearest side of another: who has come half the way goes on to the same one."""

from __future__ import annotations

import numpy as np
import pytest

from simulation import catalogue
from simulation.environment import Environment
from simulation.expert import act, due
from simulation.expert.hand import Planner
from simulation.expert.skills import next_trade
from simulation.goals.changes import Swapped

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


@pytest.mark.parametrize("way", [(0.035, 0.0), (-0.035, 0.0), (0.0, 0.035), (0.0, -0.035)])
def test_what_a_swap_sets_aside_goes_on_to_where_it_has_begun_to_go(
    environment: Environment, way: tuple[float, float]
) -> None:
    environment.reset(0)
    for name, x, y in (("red_cube", 0.29, 0.0), ("yellow_cube", 0.37, 0.17), ("blue_cylinder", 0.21, 0.17)):
        environment.move(name, x, y, 0.0)
    environment.move("green_sphere", 0.37, -0.17, 0.0)
    environment.set_task(("swap", {"one": "red_cube", "other": "yellow_cube"}))
    environment.move("red_cube", 0.29 + way[0], way[1], 0.0)
    goal = environment.goal and due(environment, environment.goal)
    assert isinstance(goal, Swapped)
    trade = next_trade(Planner(environment), goal)
    assert (trade.thing, trade.yaw is None) == ("red_cube", False)
    gone = trade.place[:2] - (0.29, 0.0)
    assert float(gone @ way) > 0.6 * float(np.hypot(*gone)) * 0.035
