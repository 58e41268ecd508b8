"""A run can show the frames of some tasks more often than others."""

from __future__ import annotations

import json
from collections import Counter
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from policies.base import DatasetError
from policies.training.batches import FrameOrder
from policies.training.dataset import Demonstrations
from tests.policies.tiny import write_demos


def test_a_pass_shows_each_frame_so_many_times() -> None:
    order = FrameOrder(3, batch=6, seed=1, times=np.array([1, 3, 2]))
    for step in range(3):
        assert Counter(order.rows(step).tolist()) == {0: 1, 1: 3, 2: 2}


def test_without_repeats_a_pass_shows_every_frame_once() -> None:
    once = FrameOrder(5, batch=5, seed=1)
    assert sorted(once.rows(2).tolist()) == [0, 1, 2, 3, 4]
    same = FrameOrder(5, batch=5, seed=1, times=np.ones(5, np.int64))
    assert once.rows(2).tolist() == same.rows(2).tolist()


def test_the_frames_of_a_task_are_repeated(demos: Demonstrations) -> None:
    assert demos.times({}) is None
    times = demos.times({"pick": 3})
    assert times is not None
    assert np.array_equal(times, np.full(len(demos), 3))


def test_a_task_of_which_nothing_is_shown_is_refused_with_those_that_are(demos: Demonstrations) -> None:
    with pytest.raises(DatasetError, match="no frames of wave; there are of pick"):
        demos.times({"wave": 2})


def test_the_command_takes_repeats_and_resumes_with_them_alone(tmp_path: Path) -> None:
    data, run = write_demos(tmp_path / "data"), tmp_path / "run"
    common = ["train", "film", "--data", str(data), "--run", str(run), "--out", str(tmp_path / "toy")]
    common += ["--samples", "16", "--batch", "8", "--json"]
    out = StringIO()
    call_command(*common, "--repeat", "pick=2", stdout=out)
    assert json.loads(out.getvalue())["training"]["plan"]["repeat"] == [["pick", 2]]
    call_command(*common, "--repeat", "pick=2", "--resume", stdout=out)
    with pytest.raises(CommandError, match="begun with repeat"):
        call_command(*common, "--resume", stdout=out)


@pytest.mark.parametrize("text", ["pick", "pick=0", "pick=x", "=2", "pick=101", "pick=-1"])
def test_an_unusable_repeat_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="expected TASK=N with N from 1 to 100"):
        call_command("train", "film", "--data", "d", "--run", "r", "--out", str(tmp_path), "--repeat", text)
