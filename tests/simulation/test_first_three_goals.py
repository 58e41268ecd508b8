"""Lifted, placed and stacked give the numbers of the first releases: old recordings are judged by them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simulation import catalogue
from simulation.contracts import AWAKE
from simulation.disturbance import Disturbance
from simulation.environment import Environment
from simulation.expert import act
from simulation.goals import goal_of
from simulation.runner import Score

KEPT = Path(__file__).parent / "data" / "first-three-goals.npz"
"""Thirty noisy rollouts of the expert, played and judged by the code of commit 445a907, the last one before goals
were data: every goal of the three tasks at every step."""
ROUNDING = 1e-4
"""Processors round differently, and contacts multiply that: where the expert's next action differs by more, the physics
went another way, and the rest of the rollout says nothing."""
COMPARED = 0.9
"""At least so much of all steps must be alike to be compared."""
TASKS = [(name, dict(slots)) for name in catalogue.FIRST_TASKS for slots in catalogue.task(name).slots]


def test_every_goal_of_the_first_tasks_is_judged_as_it_always_was() -> None:
    environment, kept = Environment("widowx", "table", physics=AWAKE), np.load(KEPT)
    ends = [*kept["starts"][1:], len(kept["actions"])]
    assert kept["success"].any(axis=0).sum() > 12
    compared = 0
    for seed, task, first, end in zip(kept["seeds"], kept["tasks"], kept["starts"], ends, strict=True):
        environment.reset(int(seed))
        environment.set_task(TASKS[task])
        goals, score = [goal_of(*each) for each in TASKS], Score(environment.hold_steps)
        disturb = Disturbance(np.random.default_rng([int(seed), 5]), (0.0, 1.0, 1.6)[seed % 3])
        for goal in goals:
            goal.begin(environment.view)
        action = disturb(act(environment, environment.goal))
        np.testing.assert_allclose(action, kept["actions"][first], atol=ROUNDING)
        for step in range(first, end - 1):
            reward = score.add(environment.step(action).judgement)
            found = [goal.judge(environment.view) for goal in goals]
            action = disturb(act(environment, environment.goal))
            if not np.allclose(action, kept["actions"][step + 1], atol=ROUNDING):
                break
            assert [each.success for each in found] == kept["success"][step].tolist()
            np.testing.assert_allclose([each.progress for each in found], kept["progress"][step], atol=100 * ROUNDING)
            assert reward == pytest.approx(kept["reward"][step], abs=ROUNDING)
            compared += 1
    assert compared > COMPARED * (len(kept["actions"]) - len(ends))
