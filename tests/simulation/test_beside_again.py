"""What stands beside another thing already is not "put next to" it before it has gone somewhere."""

from __future__ import annotations

from simulation import catalogue
from simulation.environment import Environment
from simulation.expert import act
from simulation.goals.joins import All
from simulation.goals.places import NextTo

SEED, SLOTS = 222, {"object": "green_sphere", "other": "white_cube"}  # less than 3 cm apart


def test_the_expert_sets_it_down_at_another_side() -> None:
    environment = Environment("widowx", "workbench")
    environment.reset(SEED)
    task = catalogue.task("workbench_next_to")
    goal = environment.set_task((task.id, SLOTS))
    assert isinstance(goal, All)
    beside = next(part for part in goal.goals if isinstance(part, NextTo))
    assert beside.judge(environment.view).success
    assert not goal.judge(environment.view).success
    reached = (environment.step(act(environment, goal)).judgement.success for _ in range(task.max_steps))
    assert any(reached)
