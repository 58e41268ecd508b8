"""Stopping when it is settled: the evidence against known answers, and never deceived by looking after every pair."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from proportions.paired import PairedCounts
from proportions.sequential import ALPHA, ENOUGH, anytime_interval, evidence, log_e, more_pairs


@pytest.mark.parametrize(("first", "second"), [(0, 0), (1, 0), (3, 4), (12, 2), (0, 8)])
def test_the_evidence_is_the_mean_likelihood_ratio_over_jeffreys_prior(first: int, second: int) -> None:
    def ratio(share: float) -> float:
        return float((2 * share) ** first * (2 * (1 - share)) ** second * stats.beta.pdf(share, 0.5, 0.5))

    expected, _ = integrate.quad(ratio, 0, 1, limit=200)
    assert math.exp(log_e(first, second)) == pytest.approx(expected, rel=1e-5)


def test_six_pairs_of_one_side_settle_nothing_and_seven_do() -> None:
    assert evidence(PairedCounts(both=30, first=6))["verdict"] is None
    settled = evidence(PairedCounts(both=30, first=7))
    assert (settled["verdict"], settled["more_pairs"]) == ("first", 0)
    assert settled["e_value"] >= ENOUGH
    assert evidence(PairedCounts(both=30, second=7))["verdict"] == "second"


def paths(shares: list[float], pairs: int, studies: int, seed: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """(studies, pairs, 4): counts after each pair."""
    outcomes = np.random.default_rng(seed).multinomial(1, shares, size=(studies, pairs))
    return outcomes.cumsum(axis=1)


def test_whoever_looks_after_every_pair_is_rarely_deceived_by_equals() -> None:
    counts = paths([0.2, 0.3, 0.3, 0.2], 300, 400, seed=1)
    found = [any(log_e(*pair) >= math.log(ENOUGH) for pair in study[:, 1:3].tolist()) for study in counts]
    assert np.mean(found) <= ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / len(counts))


def test_the_interval_holds_the_truth_at_all_times_together() -> None:
    counts = paths([0.4, 0.25, 0.1, 0.25], 150, 120, seed=2)
    missed = 0
    for study in counts:
        intervals = [anytime_interval(PairedCounts(*map(int, row))) for row in study[::5]]
        missed += any(not each["low"] <= 0.15 <= each["high"] for each in intervals)
    assert missed / len(counts) <= ALPHA + 3 * math.sqrt(ALPHA * (1 - ALPHA) / len(counts))


def test_without_pairs_everything_is_possible() -> None:
    told = evidence(PairedCounts())
    assert (told["difference"]["low"], told["difference"]["high"]) == (-1.0, 1.0)
    assert (told["verdict"], told["more_pairs"], told["e_value"]) == (None, None, 1.0)


def test_equals_within_a_margin_are_told_to_be_alike() -> None:
    counts = PairedCounts(both=900, first=5, second=5, neither=90)
    assert evidence(counts)["verdict"] is None
    told = evidence(counts, margin=0.1)
    assert told["verdict"] == "alike"
    assert -0.1 < told["difference"]["low"] < told["difference"]["high"] < 0.1


def test_the_forecast_is_the_number_at_which_it_is_settled_when_shares_stay() -> None:
    counts = PairedCounts(both=20, first=6, second=2, neither=12)
    more = more_pairs(counts)
    assert more is not None
    grown = counts.times((counts.pairs + more) / counts.pairs)
    assert evidence(grown)["verdict"] == "first"
    before = counts.times((counts.pairs + more - 2) / counts.pairs)
    assert evidence(before)["verdict"] is None


def test_what_never_settles_has_no_forecast_unless_a_margin_does() -> None:
    counts = PairedCounts(both=10, first=4, second=4, neither=2)
    assert more_pairs(counts) is None
    assert more_pairs(counts, margin=0.1) is not None


def test_an_impossible_margin_is_refused() -> None:
    with pytest.raises(ValueError, match="less than 1, got 1"):
        evidence(PairedCounts(), margin=1)
