"""The classic Elo: start 1500, K 32, tie 0.5/0.5, both_bad 0.25/0.25, rounded after each vote, in voting order."""

from __future__ import annotations

import pytest

from rankings.fit.elo import expected, sequential_elo, updated
from tests.rankings.ballots import ballots


@pytest.mark.parametrize(
    ("outcome", "ratings"),
    [("left_better", (1516, 1484)), ("right_better", (1484, 1516)), ("tie", (1500, 1500)), ("both_bad", (1492, 1492))],
)
def test_the_first_vote_between_newcomers_moves_them_as_the_rule_says(outcome: str, ratings: tuple[int, int]) -> None:
    assert updated(1500, 1500, outcome) == ratings


def test_400_points_more_are_expected_to_win_ten_times_in_eleven() -> None:
    assert expected(1900, 1500) == pytest.approx(10 / 11)
    assert expected(1500, 1900) == pytest.approx(1 / 11)


def test_an_upset_moves_more_than_a_win_that_was_expected() -> None:
    assert updated(1900, 1500, "right_better") == (1871, 1529)
    assert updated(1900, 1500, "left_better") == (1903, 1497)


def test_a_tie_takes_points_from_the_higher_rated_side() -> None:
    assert updated(1600, 1500, "tie") == (1596, 1504)


def test_every_step_is_rounded_before_the_next_begins() -> None:
    # 1516 beats 1484: 32 * (1 - 0.5459) = 14.53, so 1530.53 is kept as 1531; the third win adds 13.2 to that.
    assert sequential_elo(ballots(("a", "b", "left_better", 2))) == {"a": 1531, "b": 1469}
    assert sequential_elo(ballots(("a", "b", "left_better", 3))) == {"a": 1544, "b": 1456}


def test_the_order_of_the_votes_matters_here() -> None:
    early = ballots(("a", "b", "left_better", 3), ("b", "c", "left_better", 3))
    assert sequential_elo(early) != sequential_elo(early[::-1])


def test_an_unknown_outcome_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown outcome 'nan'; known: left_better, right_better, tie, both_bad"):
        updated(1500, 1500, "nan")


def test_nobody_has_a_rating_before_the_first_vote() -> None:
    assert sequential_elo([]) == {}
