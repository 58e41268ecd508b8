"""A voter's reliability: what passes, and who is flagged."""

from __future__ import annotations

import pytest

from rankings.reliability import gold_score, reliability, repeat_score


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
    assert repeat_score(first, again) == score


@pytest.mark.parametrize(("vote", "score"), [("left_better", 1.0), ("right_better", 0.0), ("tie", 0.0)])
def test_gold_is_passed_by_naming_who_reached_the_goal(vote: str, score: float) -> None:
    assert gold_score(vote, "left_better") == score


def test_without_controls_nothing_is_known() -> None:
    found = reliability([])
    assert (found.items, found.low, found.high, found.unreliable) == (0, 0.0, 1.0, False)


@pytest.mark.parametrize(
    ("scores", "flagged"),
    [([0.0] * 3, False), ([0.0] * 4, True), ([0.0] * 5 + [1.0], True), ([1.0] * 9 + [0.0], False), ([0.5] * 6, False)],
)
def test_who_fails_nearly_all_of_at_least_four_controls_is_flagged(scores: list[float], flagged: bool) -> None:
    assert reliability(scores).unreliable == flagged


def test_ten_of_ten_have_wilsons_interval() -> None:
    found = reliability([1.0] * 10)
    assert (round(found.low, 4), found.high, found.share) == (0.7225, 1.0, 1.0)
