"""The Panda's expert needs no memory to bring things to their places: it does so from starts that the benchmark does
not have, and fetches again what it loses.
"""

from __future__ import annotations

import numpy as np
import pytest

from simulation import catalogue
from simulation.courses import LIBERO, LIBERO_TASKS
from simulation.demonstrator import Demonstrator
from simulation.environment import Environment
from simulation.panda_expert import act
from simulation.worlds.libero import FRESH, starts_of

UNSTEADY = ("libero_spatial_4", "libero_spatial_6")
"""What it does from most starts, but not from every one (docs/benchmarks.md)."""


def reaches(environment: Environment, task: str, dropped_at: int = -1) -> bool:
    """Whether the goal is reached in the benchmark's steps, with the hand held open for ten of them."""
    goal = environment.set_instruction(catalogue.wording(task, catalogue.task(task).slots[0]))
    for step in range(catalogue.task(task).limits(environment.world.control_hz).max_steps):
        action = act(environment, goal)
        if dropped_at <= step < dropped_at + 10:
            action[6] = -1.0
        if environment.step(action).judgement.success:
            return True
    return False


@pytest.mark.parametrize("task", [task for task in LIBERO_TASKS if task not in UNSTEADY])
def test_it_does_every_task_of_its_course_from_a_start_between_two_of_the_benchmark(task: str) -> None:
    environment = Environment("panda", task)
    environment.reset(FRESH + 7)
    assert reaches(environment, task)


def test_what_it_loses_it_fetches_again() -> None:
    environment = Environment("panda", "libero_object_3")
    environment.reset(0)
    assert reaches(environment, "libero_object_3", dropped_at=45)


def test_starts_of_demonstrations_are_none_of_the_benchmarks() -> None:
    environment = Environment("panda", "libero_spatial_2")
    starts = starts_of("libero_spatial_2")
    places = []
    for seed in (*range(3), *range(FRESH, FRESH + 12)):
        environment.reset(seed)
        places.append(environment.view.position("akita_black_bowl_1")[:2].copy())
    apart = np.linalg.norm(np.array(places)[:, None] - places, axis=2) + np.eye(len(places))
    assert apart.min() > 1e-5
    assert len(starts) == 50


def test_a_demonstration_tells_openings_and_shows_the_benchmarks_camera() -> None:
    frames = Demonstrator(LIBERO).demonstrate(FRESH)
    assert frames is not None
    assert {*np.unique(frames["actions"][..., 6])} == {0.0, 1.0}
    assert np.abs(frames["actions"][..., :6]).max() <= 1.0
    assert frames["actions"][0, 0, 6] == 1.0  # it begins with an open hand
    assert frames["images"].shape[1:] == (128, 128, 3)
    assert ((frames["pixels"][:, 2] > 0) & (frames["pixels"][:, 2] < 1)).all()  # the tool is in the picture
