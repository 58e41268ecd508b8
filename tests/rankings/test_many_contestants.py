"""Hundreds of contestants: what is left out and taken shorter ways for changes no number."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.fit import posterior as fits
from rankings.fit.bradley_terry import fit
from rankings.fit.posterior import solved
from rankings.tally.counts import Columns, Counts

CONTESTANTS = 260


def counts(kinds_of_network: str) -> Counts:
    """Of one network, all against all or along a ring; or of two networks that never met."""
    random = np.random.default_rng(3)
    left, right = np.triu_indices(CONTESTANTS, 1)
    if kinds_of_network == "ring":
        left, right = np.arange(CONTESTANTS), (np.arange(CONTESTANTS) + 1) % CONTESTANTS
    elif kinds_of_network == "apart":
        together = (left < 100) == (right < 100)
        left, right = left[together], right[together]
    strength = random.normal(0, 1, CONTESTANTS)
    odds = 1 / (1 + np.exp(strength[right] - strength[left]))
    outcomes = np.stack([random.binomial(6, odds), random.binomial(6, 1 - odds), left * 0 + 1, left * 0], 1)
    nought = np.zeros_like(left)
    names = tuple(f"c{number:03}" for number in range(CONTESTANTS))
    return Counts.of(names, Columns(left, right, nought - 1, nought, nought, outcomes))


@pytest.mark.parametrize("ties", ["half", "davidson"])
@pytest.mark.parametrize("network", ["all", "ring", "apart"])
def test_ratings_and_intervals_are_those_of_the_direct_solution(
    network: str, ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    votes = counts(network)
    found = fit(votes, ties=ties)
    monkeypatch.setattr(fits, "MANY", CONTESTANTS + 2)
    direct = fit(votes, ties=ties)
    assert found.rating == pytest.approx(direct.rating, abs=1e-6)
    assert found.half_width == pytest.approx(direct.half_width, abs=1e-6)
    assert found.difference_sd == pytest.approx(direct.difference_sd, abs=1e-6)


@pytest.mark.parametrize("spread", [1.0, 1e3, 1e9])
def test_a_system_is_solved_however_badly_it_is_conditioned(spread: float) -> None:
    random = np.random.default_rng(0)
    turn, _ = np.linalg.qr(random.normal(size=(300, 300)))
    matrix = (turn * np.geomspace(1.0, spread, 300)) @ turn.T
    matrix = (matrix + matrix.T) / 2
    wanted = random.normal(size=300)
    assert solved(matrix, matrix @ wanted) == pytest.approx(wanted, rel=1e-5, abs=1e-5)
    assert np.array_equal(solved(matrix, np.zeros(300)), np.zeros(300))
