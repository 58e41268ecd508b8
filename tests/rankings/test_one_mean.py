"""Ratings and their intervals are told from one mean, which newcomers hardly move."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.fit.bradley_terry import Refits, fit, influence_of_voters
from rankings.fit.centre import FULL
from rankings.tally.counts import tally
from tests.rankings.ballots import ballots
from tests.rankings.test_intervals_of_the_first_release import POLICIES, veterans_and_a_newcomer


def test_the_first_votes_on_a_newcomer_hardly_move_the_others_or_their_intervals() -> None:
    _, counts = veterans_and_a_newcomer(100_000, np.random.default_rng(2))
    veteran = counts.right < POLICIES
    before = fit(counts.where(veteran & (counts.left < POLICIES)))
    after = fit(counts)
    moved = after.rating[:POLICIES] - before.rating[:POLICIES]
    assert np.abs(moved).max() < 3
    assert after.half_width[:POLICIES].max() < 1.3 * before.half_width[:POLICIES].max()


def test_where_every_policy_has_many_votes_1500_is_the_plain_mean() -> None:
    each = round(FULL)
    found = fit(tally(ballots(("a", "b", "left_better", each), ("b", "c", "left_better", each), ("c", "a", "tie", 5))))
    np.testing.assert_allclose(found.weight, 1 / 3)
    assert found.rating.mean() == pytest.approx(1500)


def test_a_policy_with_few_votes_counts_by_them() -> None:
    found = fit(tally(ballots(("a", "b", "tie", 290), ("c", "a", "left_better", 10))))
    np.testing.assert_allclose(found.weight, np.array([300, 290, 10]) / 600)


def test_a_fit_without_some_votes_is_told_from_its_own_mean() -> None:
    _, counts = veterans_and_a_newcomer(500, np.random.default_rng(3))
    gone = np.arange(len(counts.left)) < 40
    rating, _ = Refits.of(counts).without(gone)
    np.testing.assert_allclose(rating, fit(counts.where(~gone)).rating, atol=1e-6)


def test_what_a_voter_moves_includes_the_mean_that_moves_with_the_votes() -> None:
    rest = ballots(*[("abcde"[i], "abcde"[(i + 1) % 5], "left_better", 6, f"v{i}") for i in range(5)] * 4)
    all_of_one = tally([*rest, *ballots(("a", "b", "right_better", 4, "w"))])
    moved = influence_of_voters(all_of_one)[-1]
    np.testing.assert_allclose(fit(all_of_one).rating - fit(tally(rest)).rating, moved, atol=2.5)
