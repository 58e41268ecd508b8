"""The global board: what a policy can do anywhere, from what it does on each robot."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankings.fit.bradley_terry import SCALE, fit, influence_of_voters
from rankings.tally.counts import Ballot, Columns, Counts, tally
from rankings.tally.table import Board, VoteTable
from tests.rankings.ballots import ballots, mirrored

ONE = ballots(("a", "b", "left_better", 6, "v1"), ("b", "c", "left_better", 5, "v2"), ("c", "a", "tie", 4, "v1"))


def on(robot: str, votes: list[Ballot]) -> list[Ballot]:
    return [vote._replace(setting=robot) for vote in votes]


def heap(per_robot: list[tuple[int, int]]) -> Counts:
    """Votes of unknown voters on one pair: (wins of a, wins of b) by robot."""
    size = 2 * len(per_robot)
    zeros = np.zeros(size, np.int64)
    outcomes = np.zeros((size, 4), np.int64)
    for robot, (of_a, of_b) in enumerate(per_robot):
        outcomes[2 * robot, 0], outcomes[2 * robot + 1, 1] = of_a, of_b
    return Counts.of(["a", "b"], Columns(zeros, zeros + 1, zeros - 1, np.arange(size) // 2, zeros, outcomes))


def lead(counts: Counts) -> float:
    rating = fit(counts).rating
    return float(rating[0] - rating[1])


def test_with_one_robot_the_global_board_is_that_robots_board() -> None:
    one, named = fit(tally(ONE)), fit(tally(on("widowx", ONE)))
    np.testing.assert_array_equal(one.rating, named.rating)
    np.testing.assert_array_equal(one.half_width, named.half_width)


def test_a_million_votes_on_one_robot_do_not_outvote_another_robot() -> None:
    assert lead(heap([(750_000, 250_000)])) == pytest.approx(191, abs=1)
    assert abs(lead(heap([(750_000, 250_000), (250, 750)]))) < 10


def test_a_new_robot_comes_in_without_a_jump() -> None:
    before, after = lead(heap([(7500, 2500)])), lead(heap([(7500, 2500), (0, 1)]))
    assert 0 < before - after < 40


def test_policies_that_met_only_over_two_robots_can_be_compared() -> None:
    votes = [*on("r", ballots(("a", "b", "left_better", 9))), *on("s", ballots(("b", "c", "left_better", 9)))]
    found = fit(tally(votes))
    assert found.components() == [["a", "b", "c"]]
    assert found.rating[0] > found.rating[1] > found.rating[2]


def test_an_unvoted_newcomer_changes_nobody_on_a_board_of_two_robots_either() -> None:
    votes = [*on("r", ONE), *on("s", ONE[:9])]
    before, after = fit(tally(votes)), fit(tally(votes, names=["newcomer"]))
    np.testing.assert_allclose(after.rating[:3], before.rating, atol=1e-6)
    np.testing.assert_allclose(after.half_width[:3], before.half_width, atol=1e-6)
    assert (after.rating[3], round(after.half_width[3])) == (1500, 681)


def test_order_and_sides_change_no_bit_with_two_robots() -> None:
    votes = [*on("r", ONE), *on("s", ONE[3:12])]
    one, other = fit(tally(votes)), fit(tally([mirrored(vote) for vote in reversed(votes)]))
    for name in ("rating", "half_width", "difference_sd"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_tie_as_an_outcome_of_its_own_has_the_closed_form_of_davidson() -> None:
    counts = tally(ballots(("a", "b", "left_better", 40), ("a", "b", "right_better", 10), ("a", "b", "tie", 20)))
    found = fit(counts, prior=0, ties="davidson")
    assert (found.rating[0] - found.rating[1]) / SCALE == pytest.approx(math.log(4), abs=1e-5)
    assert found.nu == pytest.approx(20 / math.sqrt(40 * 10), abs=1e-5)


def test_only_ties_leave_davidsons_ratings_equal_and_finite() -> None:
    found = fit(tally(ballots(("a", "b", "tie", 30))), ties="davidson")
    np.testing.assert_allclose(found.rating, 1500)
    assert np.isfinite(found.half_width).all()
    assert (found.half_width > 1).all()


def test_an_unknown_treatment_of_ties_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="known: half, davidson"):
        fit(tally(ONE), ties="drop")


def test_the_influence_of_a_voter_is_about_what_leaving_the_voter_out_changes() -> None:
    votes = [Ballot(a, b, "left_better", f"v{n % 20}") for n, (a, b) in enumerate(["ab", "ba", "bc", "cb", "ca"] * 40)]
    counts = tally([*votes, *ballots(("a", "b", "left_better", 3, "w"))])
    influence = influence_of_voters(counts)[-1]
    without = fit(tally(votes)).rating
    np.testing.assert_allclose(fit(counts).rating - without, influence, atol=1.0)
    assert abs(influence[0]) > 3


ROWS = [
    ("widowx", "table", "stack", "a", "b", "v1", "2026-01-01", "", 3, 0, 0, 0),
    ("widowx", "table", "", "b", "a", "", "2026-01-01", "", 1, 0, 2, 0),
    ("franka", "desk", "stack", "a", "c", "v2", "2026-01-02", "", 0, 4, 0, 1),
    ("franka", "shelf", "stack", "a", "c", "v2", "2026-01-02", "", 0, 0, 0, 0),
]


def test_boards_are_sums_of_rows() -> None:
    table = VoteTable.of(ROWS)
    assert [board.name for board in table.boards()] == [
        "global",
        "robot=franka",
        "robot=widowx",
        "scene=desk",
        "scene=table",
        "task=stack",
        "robot=franka,scene=desk",
        "robot=widowx,scene=table",
        "robot=franka,task=stack",
        "robot=widowx,task=stack",
        "scene=desk,task=stack",
        "scene=table,task=stack",
        "robot=franka,scene=desk,task=stack",
        "robot=widowx,scene=table,task=stack",
    ]
    assert [table.counts(board).total for board in table.boards()] == [11, 5, 6, 5, 6, 8, 5, 6, 5, 3, 5, 3, 5, 3]
    assert table.counts(Board(setting="widowx")).names == ("a", "b")
    assert table.counts().voters == 2
    assert table.counts(without_voters={"v2"}).names == ("a", "b")


def test_no_rows_are_no_boards_and_no_votes() -> None:
    assert VoteTable.of([]).boards() == []
    assert VoteTable.of([]).counts().total == 0
