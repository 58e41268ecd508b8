"""Boards of success and progress: sums, intervals and ranks."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.physics import ALL_TASKS, Played, boards


def played(policy: str, task: str, progress: list[float], successes: int = 0) -> Played:
    return Played(policy, task, len(progress), successes, sum(progress), sum(each * each for each in progress))


def test_all_tasks_together_come_first_and_are_the_sum_of_the_tasks() -> None:
    found = boards([played("a", "stack", [0.5] * 10, 2), played("a", "pick", [1.0] * 30, 30)])
    assert list(found) == [ALL_TASKS, "pick", "stack"]
    (row,) = found[ALL_TASKS]
    assert (row["episodes"], row["successes"], row["rate"]) == (40, 32, 0.8)
    assert row["progress"] == pytest.approx(0.875)


def test_success_has_wilsons_interval() -> None:
    (row,) = boards([played("a", "pick", [1.0] * 10, 10)])["pick"]
    assert (row["low"], row["high"]) == (0.7225, 1.0)


def test_ranks_follow_success_then_progress_and_equals_share_one() -> None:
    found = boards(
        [
            played("c", "pick", [0.2] * 4, 2),
            played("a", "pick", [0.1] * 4, 1),
            played("b", "pick", [0.9] * 4, 2),
        ]
    )["pick"]
    assert [(row["rank"], row["model_id"]) for row in found] == [(1, "b"), (1, "c"), (3, "a")]


def test_progress_has_an_interval_that_holds_the_truth() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(500):
        (row,) = boards([played("a", "pick", rng.beta(2, 5, 40).tolist())])["pick"]
        held += row["progress_low"] <= 2 / 7 <= row["progress_high"]
    assert 0.93 < held / 500 < 0.99


def test_equal_progress_is_not_certainty() -> None:
    (few,) = boards([played("a", "pick", [0.5] * 2)])["pick"]
    (many,) = boards([played("a", "pick", [0.5] * 200)])["pick"]
    assert few["progress_high"] - few["progress_low"] > 0.5
    assert 0 < many["progress_high"] - many["progress_low"] < 0.02


def test_nothing_played_is_an_empty_board() -> None:
    assert boards([]) == {ALL_TASKS: []}
