"""Bradley-Terry against answers that are known from elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from rankings.fit.bradley_terry import SCALE, fit, side_advantage
from rankings.fit.student import Z
from rankings.tally.counts import Ballot, tally
from tests.rankings.ballots import ballots

# The 1987 season of the American League's eastern division: wins of the row's team against the column's.
# A. Agresti, Categorical Data Analysis, section on Bradley-Terry; the estimates as printed by R's BradleyTerry2.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = (
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)
ABILITIES = {
    "Baltimore": 0.0,
    "Boston": 1.1077,
    "Cleveland": 0.6839,
    "Detroit": 1.4364,
    "Milwaukee": 1.5814,
    "New York": 1.2476,
    "Toronto": 1.2945,
}


def season() -> list[Ballot]:
    return [Ballot(TEAMS[i], TEAMS[j], "left_better") for i in range(7) for j in range(7) for _ in range(WINS[i][j])]


def test_two_policies_have_the_closed_form() -> None:
    found = fit(tally(ballots(("a", "b", "left_better", 30), ("a", "b", "right_better", 10))), prior=0)
    assert found.rating[0] - found.rating[1] == pytest.approx(400 * math.log10(3), abs=1e-6)
    assert found.rating.mean() == pytest.approx(1500)
    assert found.half_width == pytest.approx(Z * SCALE * math.sqrt(1 / 30 + 1 / 10) / 2)


def test_a_virtual_game_pulls_two_policies_together_by_its_own_equation() -> None:
    found = fit(tally(ballots(("a", "b", "left_better", 9), ("a", "b", "right_better", 3))), prior=1)
    theta = (found.rating[0] - 1500) / SCALE

    def p(margin: float) -> float:
        return 1 / (1 + math.exp(-margin))

    assert 9 - 12 * p(2 * theta) + 0.5 - p(theta) == pytest.approx(0, abs=1e-9)


def test_ties_make_the_interval_narrower_by_the_closed_form_of_the_sandwich() -> None:
    votes = ballots(("a", "b", "left_better", 20), ("a", "b", "right_better", 10), ("a", "b", "tie", 30))
    found = fit(tally(votes), prior=0)
    n, p = 60, 35 / 60
    meat = 20 * (1 - p) ** 2 + 10 * p**2 + 30 * (0.5 - p) ** 2
    assert found.half_width == pytest.approx(Z * SCALE * math.sqrt(meat) / (n * p * (1 - p)) / 2)
    assert found.half_width[0] < Z * SCALE / math.sqrt(n * p * (1 - p)) / 2


def test_the_baseball_season_of_1987_gives_the_abilities_of_the_textbook() -> None:
    found = fit(tally(season()), prior=0)
    ability = dict(zip(found.names, found.rating / SCALE, strict=True))
    assert {name: ability[name] - ability["Baltimore"] for name in TEAMS} == pytest.approx(ABILITIES, abs=2e-4)


def test_a_general_optimiser_finds_the_same_ratings() -> None:
    rng = np.random.default_rng(7)
    names = ["a", "b", "c", "d", "e"]
    votes = [
        Ballot(*rng.choice(names, 2, replace=False), rng.choice(["left_better", "right_better", "tie", "both_bad"]))
        for _ in range(200)
    ]
    worth = {"left_better": 1.0, "right_better": 0.0, "tie": 0.5, "both_bad": 0.5}

    def loss(theta: np.ndarray) -> float:
        total = 0.5 * (np.logaddexp(0, theta) + np.logaddexp(0, -theta)).sum()
        for vote in votes:
            margin = theta[names.index(vote.left)] - theta[names.index(vote.right)]
            y = worth[vote.outcome]
            total += y * np.logaddexp(0, -margin) + (1 - y) * np.logaddexp(0, margin)
        return float(total)

    best = minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-9}).x
    found = fit(tally(votes))
    assert found.rating == pytest.approx(1500 + SCALE * (best - found.weight @ best), abs=0.01)


def test_both_bad_is_half_a_win_each_like_a_tie() -> None:
    rest = ballots(("a", "b", "left_better", 4), ("b", "c", "left_better", 3), ("c", "a", "left_better", 1))
    tied = fit(tally([*rest, *ballots(("a", "c", "tie", 5))]))
    bad = fit(tally([*rest, *ballots(("a", "c", "both_bad", 5))]))
    np.testing.assert_array_equal(tied.rating, bad.rating)
    np.testing.assert_array_equal(tied.half_width, bad.half_width)


def test_four_times_the_votes_halve_the_interval() -> None:
    once = [*season(), *ballots(("Boston", "Cleveland", "tie", 6))]
    one, four = fit(tally(once), prior=0), fit(tally(once * 4), prior=0)
    np.testing.assert_allclose(four.difference_sd, one.difference_sd / 2)
    np.testing.assert_allclose(
        np.subtract.outer(four.rating, four.rating), np.subtract.outer(one.rating, one.rating), atol=1e-6
    )


def test_a_newcomers_doubt_does_not_widen_the_intervals_of_the_others() -> None:
    before = fit(tally(season()))
    after = fit(tally([*season(), Ballot("newcomer", "Boston", "left_better")]))
    there = [after.names.index(name) for name in before.names]
    assert after.half_width[there] == pytest.approx(before.half_width, rel=0.03)
    assert after.half_width[after.names.index("newcomer")] > 300


def test_the_left_sides_advantage_is_found_and_leaves_the_ratings_alone() -> None:
    fair = ballots(("a", "b", "left_better", 50), ("b", "a", "left_better", 50))
    fair += ballots(("a", "b", "right_better", 50), ("b", "a", "right_better", 50))
    biased = ballots(("a", "b", "left_better", 75), ("b", "a", "left_better", 75))
    biased += ballots(("a", "b", "right_better", 25), ("b", "a", "right_better", 25))
    none, some = side_advantage(tally(fair)), side_advantage(tally(biased))
    assert none is not None
    assert some is not None
    assert none.elo == pytest.approx(0, abs=1e-6)
    assert some.elo == pytest.approx(400 * math.log10(3), abs=2)
    assert some.elo - some.half_width > 0
    np.testing.assert_allclose(fit(tally(biased)).rating, 1500, atol=1e-6)


def test_nothing_is_known_of_a_side_on_which_the_same_policy_always_stood() -> None:
    found = side_advantage(tally(ballots(("a", "b", "left_better", 300), ("a", "b", "right_better", 100))))
    assert found is not None
    assert found.half_width > 400
