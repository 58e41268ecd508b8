"""What the ranking promises, in simulation: fixed seeds, the same code as `manage.py ranking_study`."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.fit.ratings import CAP
from rankings.study.intervals import coverage
from rankings.study.planning import newcomer, spearman
from rankings.study.stuffing import stuffing
from rankings.study.voters import Crowd, Scenario

TASTE = Crowd(voters=1000, taste=100)
HEAVY = Crowd(voters=1000, taste=100, heavy=0.44)


@pytest.mark.parametrize("votes", [100, 10_000])
@pytest.mark.parametrize("ties", [0.0, 0.35])
def test_intervals_hold_the_truth_95_times_in_100(votes: int, ties: float) -> None:
    assert 0.93 <= coverage(Scenario(votes=votes, ties=ties), repeats=60, seed=1).held <= 0.97


@pytest.mark.parametrize("crowd", [TASTE, HEAVY])
def test_they_do_so_with_voters_of_own_taste_and_with_one_who_casts_44_percent(crowd: Crowd) -> None:
    assert 0.93 <= coverage(Scenario(votes=10_000, crowd=crowd), repeats=60, seed=1).held <= 0.97


def test_taking_such_votes_for_independent_would_promise_too_much() -> None:
    setting = Scenario(votes=10_000, crowd=HEAVY)
    assert coverage(setting, repeats=10, seed=1, cap=0, cluster=False).held < 0.5


def test_250_votes_stuffed_by_one_visitor_move_no_rating_by_more_than_10_points() -> None:
    moved = [stuffing(honest=4000, stuffed=250, cap=CAP, seed=seed) for seed in range(12)]
    assert max(moved) <= 10
    assert stuffing(honest=4000, stuffed=250, cap=0, seed=0) > 50


def test_a_newcomer_beside_nine_reaches_a_half_width_of_60_within_260_votes() -> None:
    for seed in range(3):
        widths = newcomer(planned=True, seed=seed, most=260)
        assert widths[-1] < 60
        assert widths[0] > 600
    assert np.mean(widths) < np.mean(newcomer(planned=False, seed=2, most=260))


def test_planning_pairs_orders_seven_policies_with_200_votes() -> None:
    assert spearman(contestants=7, votes=200, repeats=20, seed=1)[0] >= 0.9
