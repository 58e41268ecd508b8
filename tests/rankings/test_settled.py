"""Which pairs are settled: the test, what it says of a board, and that looking every hour does not wear it out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankings.analysis.settled import (
    ALPHA,
    MOST,
    RULE,
    Rule,
    Settled,
    only,
    published,
    rounded_up,
    steady,
    unsteady,
    verdicts,
)
from rankings.fit.bradley_terry import SCALE, Fit, fit
from rankings.study.settled import Growth, watch
from rankings.study.voters import Crowd
from rankings.tally.counts import tally
from tests.rankings.ballots import ballots


def board(*groups: tuple[str, str, str, int]) -> Fit:
    return fit(tally(ballots(*groups)))


def told(found: Fit) -> Settled:
    return published(found, found.names)


def test_the_evidence_is_the_ratio_of_two_normal_densities() -> None:
    difference, variance, spread = 80.0, 900.0, 212.0
    wide = variance + spread**2
    densities = [math.exp(-(difference**2) / 2 / v) / math.sqrt(v) for v in (wide, variance)]
    found = Rule(spread=spread).log_evidence(np.array([difference]), np.array([variance]))
    assert found[0] == pytest.approx(math.log(densities[0] / densities[1]))


def test_what_is_beyond_the_half_width_is_refuted_and_what_is_within_is_not() -> None:
    variance = np.array([25.0, 400.0, 10_000.0])
    edge, bound = RULE.half_width(variance), math.log(1 / ALPHA)
    assert (RULE.log_evidence(edge * 1.0001, variance) >= bound).all()
    assert (RULE.log_evidence(edge * 0.9999, variance) < bound).all()
    assert RULE.low(np.array([130.0, 131.0]), np.array([2000.0, 2000.0])) == pytest.approx([0.0, 1.0], abs=6)


def test_the_steady_scale_agrees_with_points_about_zero_and_leads_back() -> None:
    points = np.array([-600.0, -40.0, 0.0, 1.0, 40.0, 600.0])
    there, variance = steady(points, np.full(6, 100.0))
    assert there[[2, 3]] == pytest.approx([0.0, 1.0], abs=1e-3)
    assert variance[2] == pytest.approx(100.0)
    assert variance[5] < 12
    assert unsteady(there) == pytest.approx(points)
    assert unsteady(np.array([-600.0, 600.0])).tolist() == [-math.inf, math.inf]


def test_the_sequence_is_wider_than_an_interval_for_one_look() -> None:
    variance = np.geomspace(1.0, 1e6, 20)
    assert (RULE.half_width(variance) > 2.4 * np.sqrt(variance)).all()


def test_looking_every_hour_settles_no_more_than_five_in_a_hundred_equal_pairs_and_the_interval_does() -> None:
    growth = Growth(hours=60, crowd=Crowd(400, 100), uneven=1.0)
    arenas = [watch(growth, seed) for seed in range(15)]
    equal = np.concatenate([each.gap == 0 for each in arenas])
    wrong, naive = (np.concatenate([getattr(each, name) for each in arenas]) for name in ("wrong", "naive"))
    assert equal.sum() == 60
    assert wrong[equal].mean() <= ALPHA
    assert naive[equal].mean() > 2 * ALPHA
    assert wrong[~equal].mean() <= ALPHA / 4


def test_a_pair_with_many_votes_for_one_side_is_settled_both_ways_round() -> None:
    found = told(board(("a", "b", "left_better", 200), ("b", "a", "left_better", 50)))
    assert found["names"] == ["a", "b"]
    assert found["verdicts"] == [[None, "better"], ["worse", None]]
    assert (found["settled"], found["pairs"]) == (1, 1)
    assert found["votes_to_go"] == [[None, None], [None, None]]


def test_a_pair_with_thousands_of_even_votes_is_as_good_as_equal() -> None:
    found = told(board(("a", "b", "left_better", 6000), ("b", "a", "left_better", 6000)))
    assert found["verdicts"][0][1] == "equal"


def test_a_pair_with_few_votes_is_open_and_needs_about_as_many_more_as_it_is_told() -> None:
    few = told(board(("a", "b", "left_better", 12), ("a", "b", "right_better", 6)))
    assert few["verdicts"] == [[None, "open"], ["open", None]]
    more = few["votes_to_go"][0][1]
    assert more is not None
    share = 1 / (1 + math.exp(-(few["differences"][0][1] or 0.0) / SCALE))
    for factor, verdict in ((0.5, "open"), (1.6, "better")):
        cast = round(factor * more)
        wins = round(share * cast)
        grown = told(board(("a", "b", "left_better", 12 + wins), ("a", "b", "right_better", 6 + cast - wins)))
        assert grown["verdicts"][0][1] == verdict


def test_a_pair_that_looks_equal_needs_more_votes_than_are_foretold() -> None:
    found = told(board(("a", "b", "left_better", 20), ("b", "a", "left_better", 20)))
    assert found["verdicts"][0][1] == "open"
    assert found["votes_to_go"][0][1] is None


def test_a_policy_that_won_all_of_90_votes_is_better() -> None:
    """Its difference is so uncertain that the usual ratio of the two would never say so."""
    assert told(board(("a", "b", "left_better", 90)))["verdicts"][0][1] == "better"


@pytest.mark.parametrize("votes", [1, 3, 6])
def test_a_few_votes_for_one_side_settle_nothing(votes: int) -> None:
    assert told(board(("a", "b", "left_better", votes)))["verdicts"][0][1] == "open"


def test_before_a_variance_is_known_well_nothing_is_settled() -> None:
    """Nine votes that agree show hardly any variance."""
    found = board(("a", "b", "left_better", 9))
    assert verdicts(found)[0][1] == "open"
    assert verdicts(found, Rule(burn_in=1e6))[0][1] == "better"


def test_nothing_is_said_of_pairs_that_no_votes_connect() -> None:
    found = told(board(("a", "b", "left_better", 90), ("c", "d", "left_better", 90)))
    row = dict(zip(found["names"], found["verdicts"][found["names"].index("a")], strict=True))
    assert row == {"a": None, "b": "better", "c": None, "d": None}
    assert (found["settled"], found["pairs"]) == (2, 2)
    assert found["differences"][found["names"].index("a")][found["names"].index("c")] is None


def test_without_a_reference_the_others_are_counted_anew() -> None:
    whole = told(board(("a", "b", "left_better", 90), ("b", "expert", "right_better", 90), ("a", "b", "tie", 5)))
    found = only(whole, {"a", "b"})
    assert (found["names"], found["settled"], found["pairs"]) == (["a", "b"], 1, 1)
    assert [len(row) for row in found["lows"]] == [2, 2]


def test_it_is_told_in_the_order_asked_for() -> None:
    found = published(board(("a", "b", "left_better", 90)), ["b", "a"])
    assert (found["names"], found["verdicts"]) == (["b", "a"], [[None, "worse"], ["better", None]])


def test_an_empty_board_has_no_pair() -> None:
    assert told(board())["pairs"] == 0


@pytest.mark.parametrize(("votes", "told_as"), [(0.2, 5), (41.0, 45), (101.0, 110), (322.0, 350), (MOST + 1.0, None)])
def test_votes_to_go_are_told_roughly(votes: float, told_as: int | None) -> None:
    assert rounded_up(votes) == told_as
