"""The expert asks of a hand no more than its goal asks: it guides one that errs by a centimetre at every step, and one
that errs by half a centimetre into the middle of two things.
"""

from __future__ import annotations

import numpy as np
import pytest

from simulation import catalogue
from simulation.environment import Environment
from simulation.expert import act
from simulation.goals.changes import Moved

SHAKE = 0.01  # of each step sideways, standard deviation [m]
SHAKE_IN_THE_MIDDLE = 0.005  # where one exact place is asked for: the middle of two things
SEEDS = range(100, 106)
BOWL = {"workbench_put_in": {"container": "bowl"}}


@pytest.fixture(scope="module")
def worlds() -> dict[str, Environment]:
    return {scene: Environment("widowx", scene) for scene in ("table", "workbench")}


def shaken(environment: Environment, task_id: str, seed: int, shake: float = SHAKE) -> bool:
    """Whether the goal is reached, which names nothing that the seed left out."""
    task, random = catalogue.task(task_id), np.random.default_rng(seed)
    environment.reset(seed)
    out, wanted = {*environment.left_out()}, BOWL.get(task_id, {}).items()
    fillings = [dict(slots) for slots in task.slots if out.isdisjoint(slots.values()) and wanted <= dict(slots).items()]
    environment.set_task((task.id, fillings[seed % len(fillings)]))
    held = 0
    for _ in range(task.max_steps):
        action = act(environment, environment.goal).copy()
        action[:2] += random.normal(0.0, shake, 2)
        held = held + 1 if environment.step(action).judgement.success else 0
        if held == task.hold_steps:
            return True
    return False


@pytest.mark.parametrize("task_id", ["next_to", "swap", "knock_over"])
def test_on_the_table(worlds: dict[str, Environment], task_id: str) -> None:
    """Of 24 seeds 21, 23 and 24 succeed."""
    assert sum(shaken(worlds["table"], task_id, seed) for seed in SEEDS) >= len(SEEDS) - 2


def test_in_the_middle_of_two_things(worlds: dict[str, Environment]) -> None:
    """A hand that errs by a centimetre reaches 7 of 24, and yet policies learn the middle better than a nearer place
    (docs/decisions/training.md).
    """
    reached = sum(shaken(worlds["table"], "between", seed, SHAKE_IN_THE_MIDDLE) for seed in SEEDS)
    assert reached >= len(SEEDS) - 2


def test_into_the_bowl(worlds: dict[str, Environment]) -> None:
    bench = worlds["workbench"]
    seeds = [seed for seed in range(100, 130) if bench.reset(seed) and "bowl" not in bench.left_out()][: len(SEEDS)]
    assert sum(shaken(bench, "workbench_put_in", seed) for seed in seeds) >= len(seeds) - 2


def test_a_thing_is_pushed_so_far_that_nobody_need_remember_where_it_began(worlds: dict[str, Environment]) -> None:
    table = worlds["table"]
    table.reset(3)
    found = catalogue.task_for("push the red cube to the left", "table")
    assert found is not None
    table.set_task(found)
    goal = table.goal
    assert isinstance(goal, Moved)
    for _ in range(30):
        table.step(act(table, goal))
    assert goal.way_from(table.view)[1] > goal.by_m + 0.015
