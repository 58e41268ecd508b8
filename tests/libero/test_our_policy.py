"""The network of ours for LIBERO: it plays the Panda, in its convention, without torch, and brings things to their
places.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from policies.base import OpenedPolicy
from policies.film.exported import ExportedFilmPolicy
from policies.film.policy import open_film
from policies.models import Policy
from policies.registry import describe, open_policy
from robots.benchmarks.measured import NEAR_STARTS, SAW_STARTS, measured
from robots.management.commands.evaluate import _note
from robots.policy_lookup import find_policy
from simulation import catalogue
from simulation.chunking import ChunkPlayer
from simulation.environment import Environment

FOLDER = Path(settings.OPTIONAL_WEIGHTS) / "film-panda"
TASKS = ("libero_object_0", "libero_object_3", "libero_object_7")
STARTS = range(4)


def reaches(environment: Environment, policy: OpenedPolicy, task: str, start: int) -> bool:
    text = catalogue.wording(task, catalogue.task(task).slots[0])
    environment.reset(start)
    environment.set_instruction(text)
    policy.reset(text, start)
    world = environment.world
    player = ChunkPlayer(
        policy.spec.chunking,
        lambda: policy.infer(environment.observe(text, 0, policy.spec.cameras)),
        world.action_chunk,
        world.robot.LONGEST_CHUNK,
    )
    steps = range(catalogue.task(task).limits(world.control_hz).max_steps)
    return any(environment.step(player.next()).judgement.success for _ in steps)


def test_it_reaches_goals_from_starts_that_it_never_saw() -> None:
    policy = open_policy(FOLDER)
    reached = [reaches(Environment("panda", task), policy, task, start) for task in TASKS for start in STARTS]
    assert sum(reached) >= len(reached) / 4


def test_it_is_computed_without_torch_as_torch_does_and_grips_as_the_panda_takes_it() -> None:
    here, by_torch = open_policy(FOLDER), open_film(FOLDER, describe(FOLDER), None)
    assert isinstance(here, ExportedFilmPolicy)
    environment = Environment("panda", TASKS[0])
    environment.reset(0)
    look = environment.observe("pick up the alphabet soup and place it in the basket", 0, here.spec.cameras)
    assert here.infer(look) == pytest.approx(by_torch.infer(look), abs=1e-4)
    assert {*np.unique(here.infer(look)[:, 6])} <= {-1.0, 1.0}


@pytest.mark.django_db
def test_its_rows_say_that_it_learnt_near_the_benchmarks_starts() -> None:
    row = find_policy("film-panda")
    assert isinstance(row, Policy)
    assert _note(row, "libero-object", TASKS) == NEAR_STARTS
    assert _note(row, "bridge", TASKS) == SAW_STARTS
    rows = {each.suite: each for each in measured() if each.policy == "film-panda"}
    assert {"libero-object", "libero-spatial", "libero-goal"} <= {*rows}
    assert all(each.note == NEAR_STARTS and each.revision == row.revision for each in rows.values())
