"""The scripted expert at the cabinet and in the four Bridge tasks."""

from __future__ import annotations

import numpy as np
import pytest

from simulation import catalogue
from simulation.contracts import EpisodeResult
from simulation.environment import Environment
from simulation.expert import ScriptedExpert, act
from simulation.runner import run_episode
from simulation.variation import Variation
from simulation.worlds import bridge

CABINET = ("open_drawer", "close_drawer", "put_in_drawer", "put_away", "put_on_cabinet")


def play(environment: Environment, text: str) -> EpisodeResult:
    return run_episode(environment, ScriptedExpert(environment), text, 0, cameras=())


@pytest.mark.parametrize("task_id", CABINET)
def test_the_expert_does_the_tasks_of_the_cabinet(task_id: str) -> None:
    environment, slots = Environment("widowx", "cabinet"), catalogue.task(task_id).slots
    for seed in range(6):
        environment.reset(seed)
        text = catalogue.wording(task_id, slots[seed % len(slots)])
        assert play(environment, text).success, (seed, text)


@pytest.mark.parametrize("task_id", bridge.SCENES)
def test_the_expert_does_the_bridge_tasks_from_every_fourth_start(task_id: str) -> None:
    environment = Environment("widowx", task_id)
    for seed in range(task_id == "bridge_eggplant", 24, 4):
        environment.reset(seed)
        assert play(environment, catalogue.wording(task_id, catalogue.task(task_id).slots[0])).success, seed


def test_a_drawer_that_is_open_is_not_opened_again() -> None:
    environment = Environment("widowx", "cabinet", Variation(variant="top_open"))
    environment.reset(3)
    opened = play(environment, "put the red cube in the top drawer")
    assert opened.success
    environment.reset(3)
    assert opened.steps < play(Environment("widowx", "cabinet"), "put the red cube in the top drawer").steps


def test_the_expert_goes_on_when_the_drawer_is_shut_again() -> None:
    environment = Environment("widowx", "cabinet")
    environment.reset(5)
    environment.set_instruction("put the red cube in the top drawer")
    for _ in range(8):
        environment.step(act(environment, environment.goal))
    shut = environment.state()
    shut.qpos[int(environment.model.joint("top_drawer").qposadr[0])] = 0.0
    environment.restore(shut)
    assert play(environment, "put the red cube in the top drawer").success


def test_free_text_moves_no_drawer() -> None:
    environment = Environment("widowx", "cabinet")
    environment.reset(1)
    before = environment.data.joint("top_drawer").qpos.copy()
    assert play(environment, "what is in the drawers?").success is None
    assert np.abs(environment.data.joint("top_drawer").qpos - before).max() < 1e-4
