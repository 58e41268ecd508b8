"""The contestants that come with the arena: whole, small, honest about themselves, and of different strength."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from policies.folder import LOG, WEIGHTS, file_hash
from policies.registry import describe, open_policy
from proportions import wilson
from simulation import catalogue
from simulation.contracts import POLICY_CAMERA, Observation

FOLDERS = sorted(path for path in settings.POLICY_WEIGHTS.iterdir() if path.is_dir())
each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def test_there_are_at_least_three_contestants_and_their_ids_are_their_folders() -> None:
    assert len(FOLDERS) >= 3
    assert [describe(folder).spec.id for folder in FOLDERS] == [folder.name for folder in FOLDERS]


@each_folder
def test_it_opens_and_acts_in_the_scene_it_was_made_for(folder: Path) -> None:
    policy = open_policy(folder)
    assert policy.spec.cameras == (POLICY_CAMERA,)
    (robot,) = (each for each in catalogue.robots() if describe(folder).training["scenes"][0] in each.scenes)
    assert (policy.spec.action_space, policy.spec.proprioception) == (robot.action_space, robot.proprioception)
    assert policy.spec.rate_hz == robot.control_hz
    image = np.full((POLICY_CAMERA.height, POLICY_CAMERA.width, 3), 90, np.uint8)
    proprioception = np.array([0.3, 0, 0.1, 0, 1, 0, 0, 1], np.float32)
    actions = policy.infer(Observation({POLICY_CAMERA.name: image}, proprioception, "pick up the red cube", 0))
    assert np.abs(actions[:, :3]).max() < 0.1
    assert np.abs(actions[:, 3:6]).max() < 0.5


@each_folder
def test_it_is_a_few_megabytes_at_most_and_names_its_maker(folder: Path) -> None:
    card = describe(folder)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 15e6
    assert (card.organization, card.license) == ("VLA Arena", "Apache-2.0")
    assert f"trained by VLA Arena on {card.training['demonstrations']} scripted demonstrations" in card.provenance
    assert card.revision == file_hash(folder / WEIGHTS)


@each_folder
def test_its_log_ends_at_most_a_line_before_its_card_says_that_training_ended(folder: Path) -> None:
    with (folder / LOG).open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    training = describe(folder).training
    line = int(rows[1]["samples"]) - int(rows[0]["samples"])
    assert 0 <= training["samples"] - int(rows[-1]["samples"]) < line
    assert float(rows[-1]["total"]) < float(rows[0]["total"])
    assert {"seed", "samples", "fraction"} <= set(training["plan"])


@each_folder
def test_its_measured_success_has_its_interval_for_every_task_and_shift(folder: Path) -> None:
    card = describe(folder)
    trained = card.training["scenes"]
    measured = card.measured
    assert set(measured["table"]["tasks"]) >= {t.id for t in catalogue.suggested_tasks() if t.scene_id in trained}
    for suite in measured.values():
        for row in suite["tasks"].values():
            low, high = wilson(row["successes"], row["episodes"])
            assert (row["low"], row["high"]) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@pytest.mark.parametrize("task", ["place", "warehouse_bin", "kitchen_kettle"])
def test_the_contestants_of_a_robot_differ_clearly_in_strength(task: str) -> None:
    measured = [describe(folder).measured["table"]["tasks"] for folder in FOLDERS]
    ranked = sorted((tasks[task] for tasks in measured if task in tasks), key=lambda row: row["rate"])
    assert len(ranked) >= 2
    assert ranked[0]["high"] < ranked[-1]["low"]
