"""Paired outcomes: the exact test against known answers, and the interval against an independent computation of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from proportions.paired import PairedCounts, likeliest, mcnemar_exact, tango_interval

TABLES = [(36, 12, 2, 0), (0, 5, 5, 40), (43, 0, 1, 0), (10, 0, 0, 10), (0, 10, 0, 0), (3, 1, 7, 90), (20, 31, 12, 37)]


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (5, 5), (12, 2), (2, 12), (0, 9), (61, 40)])
def test_mcnemars_exact_p_is_that_of_the_binomial_test(first: int, second: int) -> None:
    expected = stats.binomtest(first, first + second, 0.5).pvalue if first + second else 1.0
    assert mcnemar_exact(first, second) == pytest.approx(expected, rel=1e-12)


def test_mcnemar_of_a_known_answer() -> None:
    assert mcnemar_exact(9, 1) == pytest.approx(22 / 1024)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("difference", [-0.6, -0.1, 0.0, 0.05, 0.4])
def test_the_likeliest_shares_are_those_that_a_search_finds(table: tuple[int, ...], difference: float) -> None:
    counts = PairedCounts(*table)

    def unlikely(second: float) -> float:
        shares = np.array([second + difference, second, 1 - 2 * second - difference])
        numbers = np.array([counts.first, counts.second, counts.alike])
        return float(-(numbers * np.log(np.maximum(shares, 1e-300))).sum())

    bounds = max(0.0, -difference), (1 - difference) / 2
    found = optimize.minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12})
    _, second = likeliest(counts, difference)
    assert unlikely(second) <= found.fun + 1e-6


@pytest.mark.parametrize("table", TABLES)
def test_the_interval_holds_the_estimate_and_turns_around_with_the_sides(table: tuple[int, ...]) -> None:
    both, first, second, neither = table
    one, other = tango_interval(PairedCounts(*table)), tango_interval(PairedCounts(both, second, first, neither))
    assert -1 <= one["low"] <= one["estimate"] <= one["high"] <= 1
    assert one["estimate"] == pytest.approx((first - second) / sum(table))
    assert (one["low"], one["high"]) == pytest.approx((-other["high"], -other["low"]), abs=1e-9)


@pytest.mark.parametrize("table", [(36, 12, 2, 0), (20, 31, 12, 37), (3, 1, 7, 90)])
def test_at_its_ends_the_score_statistic_is_the_normal_quantile(table: tuple[int, ...]) -> None:
    counts = PairedCounts(*table)
    found = tango_interval(counts)
    for end, sign in ((found["low"], 1), (found["high"], -1)):
        first, second = likeliest(counts, end)
        spread = np.sqrt((first + second - end**2) / counts.pairs)  # of a mean of -1, 0 and 1
        assert (counts.difference - end) / spread == pytest.approx(sign * 1.959964, abs=1e-4)


def test_it_covers_the_truth_as_often_as_it_says() -> None:
    random, shares = np.random.default_rng(5), [0.3, 0.25, 0.1, 0.35]
    tables = random.multinomial(60, shares, size=1500)
    found = [tango_interval(PairedCounts(*map(int, table))) for table in tables]
    covered = np.mean([each["low"] <= 0.15 <= each["high"] for each in found])
    assert 0.93 <= covered <= 0.97


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="counts from 0"):
        PairedCounts(first=-1)
    with pytest.raises(ValueError, match="counts from 0"):
        mcnemar_exact(-1, 3)
    with pytest.raises(ValueError, match="at least one pair"):
        tango_interval(PairedCounts())
