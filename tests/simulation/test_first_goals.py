"""A goal that became easier does not change what was recorded before."""

from __future__ import annotations

import pytest

from simulation import catalogue
from simulation.contracts import AWAKE, PHYSICS
from simulation.environment import Environment
from simulation.goals import goal_of

CHANGED = [task.id for task in catalogue.tasks() if "first_goal" in catalogue.task_row(task.id)]


def test_next_to_allows_a_gap_of_three_centimetres_and_allowed_less() -> None:
    slots = {"object": "red_cube", "other": "yellow_cube"}
    allowed = {}
    for physics in (AWAKE, PHYSICS):
        environment = Environment("widowx", "table", physics=physics)
        environment.reset(0)
        one, other = (environment.view.position(name)[:2].copy() for name in ("red_cube", "yellow_cube"))
        sides = sum(environment.view.extent(name).radius for name in slots.values())
        toward = (one - other) / max(1e-9, float(((one - other) ** 2).sum() ** 0.5))
        place = other + toward * (sides + 0.025)
        environment.move("red_cube", float(place[0]), float(place[1]))
        goal = environment.set_task(("next_to", slots))
        assert goal is not None
        allowed[physics] = goal.judge(environment.view).success
    assert allowed == {AWAKE: False, PHYSICS: True}


@pytest.mark.parametrize("task_id", CHANGED)
def test_the_first_goal_of_every_filling_can_be_read(task_id: str) -> None:
    for slots in catalogue.task(task_id).slots:
        assert goal_of(task_id, slots, first=True) != goal_of(task_id, slots)
