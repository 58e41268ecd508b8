"""A voter's reliability: what passes, and who is flagged."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.trust.reliability import CalibrationResult, gold, reliability, repeat


@pytest.mark.parametrize(
    ("first", "again", "score"),
    [
        ("left_better", "right_better", 1.0),
        ("right_better", "left_better", 1.0),
        ("left_better", "left_better", 0.0),
        ("tie", "tie", 1.0),
        ("tie", "both_bad", 1.0),
        ("both_bad", "left_better", 0.5),
        ("right_better", "tie", 0.5),
    ],
)
def test_a_repeat_is_passed_by_the_same_judgement_with_the_sides_swapped(first: str, again: str, score: float) -> None:
    assert repeat(first, again).score == score


@pytest.mark.parametrize(("vote", "score"), [("left_better", 1.0), ("right_better", 0.0), ("tie", 0.0)])
def test_gold_is_passed_by_naming_who_reached_the_goal(vote: str, score: float) -> None:
    assert gold(vote, "left_better") == CalibrationResult(score)


def test_without_controls_nothing_is_known() -> None:
    found = reliability([])
    assert (found.items, found.low, found.high, found.unreliable) == (0, 0.0, 1.0, False)


SAME, OTHER, EVEN = CalibrationResult(1.0, named=True), CalibrationResult(0.0, named=True), CalibrationResult(0.5)


@pytest.mark.parametrize(
    ("items", "flagged"),
    [([OTHER] * 8, False), ([OTHER] * 14, True), ([OTHER] * 20 + [SAME] * 2, True), ([SAME] * 9 + [OTHER], False)],
)
def test_who_names_the_other_policy_again_and_again_is_flagged(items: list[CalibrationResult], flagged: bool) -> None:
    assert reliability(items).unreliable == flagged


def test_evens_and_gold_flag_nobody() -> None:
    assert not reliability([EVEN] * 500 + [CalibrationResult(0.0)] * 500).unreliable


def test_of_voters_who_judge_each_time_anew_one_in_a_thousand_is_ever_flagged() -> None:
    """The release flagged 245 of these 2000: it asked for six passed repeats of ten, and such voters pass every other.

    They say even in a third of the cases, and like one side by half of the log odds; one looks after each repeat.
    """
    rng = np.random.default_rng(3)
    flagged = 0
    for _ in range(2000):
        left = 1 / (1 + np.exp(-rng.normal(0, 0.25)))
        said = rng.choice(3, (2, 60), p=[left * 2 / 3, (1 - left) * 2 / 3, 1 / 3])
        items = [repeat(*(("left_better", "right_better", "tie")[each] for each in pair)) for pair in said.T]
        flagged += any(reliability(items[: number + 1]).unreliable for number in range(3, 60, 4))
    assert flagged <= 4


def test_ten_of_ten_have_wilsons_interval() -> None:
    found = reliability([SAME] * 10)
    assert (round(found.low, 4), found.high, found.share) == (0.7225, 1.0, 1.0)
