"""Intervals of figures made of many people's votes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from proportions import wilson
from rankings.fit.clusters import Clusters, effective, jackknife, proportion, score_interval


def share(sums: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        found: np.ndarray = sums[:, 1] / sums.sum(axis=1)
    return found


def test_strangers_count_one_person_per_vote() -> None:
    cell = np.array([0, 1, 1, 0, 1])
    unknown = Clusters.of_cells(np.full(5, -1), cell, 2)
    apart = Clusters.of_cells(np.arange(5), cell, 2)
    assert jackknife(unknown, share, np.ones(2)) == pytest.approx(jackknife(apart, share, np.ones(2)))
    assert unknown.total.tolist() == [2, 3]


def test_the_spread_of_a_mean_is_the_textbooks() -> None:
    """Of independent votes: the standard deviation of a proportion."""
    found = jackknife(Clusters(np.eye(2), np.array([700.0, 300.0])), share, np.ones(2))
    assert found.sd == pytest.approx(math.sqrt(0.21 / 1000), rel=2e-3)
    assert found.freedom == pytest.approx(999)


def test_ten_voters_who_always_say_the_same_are_ten_votes() -> None:
    voter = np.repeat(np.arange(10), 50)
    found = jackknife(Clusters.of_cells(voter, voter % 2, 2), share, np.ones(2))
    assert found.sd == pytest.approx(math.sqrt(0.25 / 9), rel=0.01)


def test_one_who_casts_half_of_the_votes_leaves_few_voters() -> None:
    voter = np.concatenate([np.zeros(100, int), 1 + np.arange(100)])
    assert effective(Clusters.of_cells(voter, voter % 2, 2), np.ones(2)) == pytest.approx(200**2 / (100**2 + 100))


def test_without_a_second_voter_nothing_is_known() -> None:
    alone = jackknife(Clusters.of_cells(np.zeros(9, int), np.arange(9) % 2, 2), share, np.ones(2))
    assert math.isinf(alone.half_width)
    assert proportion(0.5, alone, 1.0) == (0.0, 1.0)


def test_the_score_interval_is_wilsons_for_whole_numbers() -> None:
    assert score_interval(0.3, 10) == pytest.approx(wilson(3, 10))
    assert score_interval(0.0, 0.0) == (0.0, 1.0)
