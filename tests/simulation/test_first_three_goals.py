"""Lifted, placed and stacked give the numbers of the first releases, bit for bit: old recordings are judged by them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simulation import catalogue
from simulation.disturbance import Disturbance
from simulation.environment import Environment
from simulation.expert import act
from simulation.goals import goal_of
from simulation.runner import Score

KEPT = Path(__file__).parent / "data" / "first-three-goals.npz"
"""Thirty noisy rollouts of the expert, played and judged by the code of commit 445a907, the last one before goals
were data: every goal of the three tasks at every step."""
TASKS = [(name, dict(slots)) for name in catalogue.FIRST_TASKS for slots in catalogue.task(name).slots]


def test_every_goal_of_the_first_tasks_is_judged_as_it_always_was(environment: Environment) -> None:
    kept = np.load(KEPT)
    ends = [*kept["starts"][1:], len(kept["actions"])]
    assert kept["success"].any(axis=0).sum() > 12
    for seed, task, first, end in zip(kept["seeds"], kept["tasks"], kept["starts"], ends, strict=True):
        environment.reset(int(seed))
        environment.set_task(TASKS[task])
        goals, score = [goal_of(*each) for each in TASKS], Score(environment.hold_steps)
        disturb = Disturbance(np.random.default_rng([int(seed), 5]), (0.0, 1.0, 1.6)[seed % 3])
        for goal in goals:
            goal.begin(environment.view)
        for step in range(first, end):
            action = disturb(act(environment, environment.goal))
            assert (action == kept["actions"][step]).all()
            reward = score.add(environment.step(action).judgement)
            found = [goal.judge(environment.view) for goal in goals]
            assert [each.success for each in found] == kept["success"][step].tolist()
            assert [each.progress for each in found] == kept["progress"][step].tolist()
            assert reward == kept["reward"][step]
        assert score.complete or end - first == 40
