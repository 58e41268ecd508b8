"""In training a frame is said in any wording of its task: of each task few wordings were said when it was shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simulation import catalogue
from tests.policies.test_noise_of_a_course import batches, course

SAID = "push the red cube left"


def reworded(folder: Path, told: bool) -> set[str]:
    maker = batches(folder, [SAID], told)
    rows = np.zeros(400, np.int64)
    random = np.random.default_rng(0)
    said = maker._reworded(rows, maker.demos.labels["instruction"][rows], random)
    return {course()[0][number] for number in said}


def test_it_is_said_in_every_wording_to_train_with(tmp_path: Path) -> None:
    said = reworded(tmp_path, told=True)
    assert {SAID, "nudge the red block left", "slide the red cube a little left"} < said
    assert all("red" in text and "left" in text for text in said)
    task = catalogue.task_for(SAID, "table")
    assert task
    kept_out = {one.text for one in catalogue.phrasings(*task, train=False)}
    assert "scoot the red cube to the left" in kept_out
    assert said.isdisjoint(kept_out)


def test_demonstrations_that_do_not_tell_the_wordings_keep_theirs(tmp_path: Path) -> None:
    assert reworded(tmp_path, told=False) == {SAID}
