"""Boards of success and progress: sums, intervals and ranks."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.analysis.success_rates import ALL_TASKS, EpisodeSums, boards, compared_tasks


def played(policy: str, task: str, progress: list[float], successes: int = 0) -> EpisodeSums:
    return EpisodeSums(policy, task, len(progress), successes, sum(progress), sum(each * each for each in progress))


def test_all_tasks_together_come_first_and_are_the_mean_of_the_tasks() -> None:
    found = boards([played("a", "stack", [0.5] * 10, 2), played("a", "pick", [1.0] * 30, 30)])
    assert list(found) == [ALL_TASKS, "pick", "stack"]
    (row,) = found[ALL_TASKS]
    assert (row["episodes"], row["successes"], row["rate"]) == (40, 32, 0.6)
    assert row["progress"] == pytest.approx(0.75)
    assert row["low"] < row["rate"] < row["high"]


def test_being_drawn_for_easy_tasks_does_not_lead() -> None:
    """Both reach 9 of 10 easy goals; on hard ones the second, which met more of them, is the better one."""
    easy = [played("lucky", "pick", [1.0] * 90, 81), played("better", "pick", [1.0] * 20, 18)]
    hard = [played("lucky", "stack", [0.2] * 10, 1), played("better", "stack", [0.5] * 80, 40)]
    first, second = boards([*easy, *hard])[ALL_TASKS]
    assert (first["model_id"], first["rank"], second["rank"]) == ("better", 1, 2)
    assert first["rate"] == pytest.approx(0.7)


def test_one_lucky_episode_leads_nobody_to_the_top() -> None:
    steady = played("steady", "pick", [1.0] * 40, 36)
    first, second = boards([played("lucky", "pick", [1.0], 1), steady])["pick"]
    assert (first["model_id"], first["rank"]) == ("steady", 1)
    assert (second["rate"], second["rank"], second["few_of"]) == (1.0, None, ["pick"])


def test_a_few_lucky_episodes_stand_below_many_good_ones() -> None:
    rows = boards([played("lucky", "pick", [1.0] * 5, 5), played("steady", "pick", [1.0] * 100, 90)])["pick"]
    assert [(row["model_id"], row["rank"]) for row in rows] == [("steady", 1), ("lucky", 2)]


def test_a_policy_that_hardly_played_a_task_has_no_rank_among_all_tasks_and_the_others_keep_theirs() -> None:
    full = [played(name, task, [0.5] * 10, 5) for name in ("a", "b") for task in ("pick", "stack")]
    found = boards([*full, played("c", "pick", [1.0] * 50, 50), played("c", "stack", [1.0] * 4, 4)])
    assert [(row["model_id"], row["rank"], row["few_of"]) for row in found[ALL_TASKS]] == [
        ("a", 1, []),
        ("b", 1, []),
        ("c", None, ["stack"]),
    ]
    assert found["pick"][0]["model_id"] == "c"


def test_a_task_that_most_have_not_played_is_not_among_all_tasks() -> None:
    common = [played(name, "pick", [0.5] * 10, 5) for name in ("a", "b", "c")]
    rare = played("a", "stack", [0.0] * 30, 0)
    assert compared_tasks([*common, rare]) == ["pick"]
    assert [row["rate"] for row in boards([*common, rare])[ALL_TASKS]] == [0.5] * 3
    assert compared_tasks([played("a", "stack", [0.0] * 2)]) == ["stack"]


def test_attempts_in_which_the_policy_failed_stand_beside_the_episodes() -> None:
    (row,) = boards([played("a", "pick", [1.0] * 10, 8)._replace(failures=3)])["pick"]
    assert (row["rate"], row["episodes"], row["failures"]) == (0.8, 10, 3)


def test_the_mean_over_tasks_has_an_interval_that_holds_the_truth() -> None:
    rng, truth = np.random.default_rng(4), {"pick": 0.9, "place": 0.6, "stack": 0.2}
    held = 0
    for _ in range(1000):
        drawn = [(task, int(rng.integers(5, 60))) for task in truth]
        found = boards(played("a", task, [0.5] * n, int(rng.binomial(n, truth[task]))) for task, n in drawn)
        (row,) = found[ALL_TASKS]
        held += row["low"] <= sum(truth.values()) / 3 <= row["high"]
    assert 0.93 < held / 1000 < 0.99


def test_success_has_wilsons_interval() -> None:
    (row,) = boards([played("a", "pick", [1.0] * 10, 10)])["pick"]
    assert (row["low"], row["high"]) == (0.7225, 1.0)


def test_ranks_follow_the_lower_end_of_success_and_equals_share_one() -> None:
    found = boards(
        [
            played("c", "pick", [0.2] * 8, 4),
            played("a", "pick", [0.1] * 8, 2),
            played("b", "pick", [0.9] * 8, 4),
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
