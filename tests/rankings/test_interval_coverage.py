"""95 % intervals hold the true rating about 95 times in 100: simulated votes, fixed seeds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from rankings.fit.bradley_terry import SCALE, fit
from rankings.fit.posterior import Games, Posterior
from rankings.tally.counts import OUTCOMES, Ballot, tally

POLICIES = 8
NAMES = tuple("abcdefgh")
REPEATS = 60


def outcomes(margin: NDArray[np.float64], ties: float, rng: np.random.Generator) -> list[str]:
    """Draw an outcome per margin; `ties` is their share between equals. The expected score is sigmoid(margin)."""
    p = 1 / (1 + np.exp(-margin))
    tie = ties * 4 * p * (1 - p)
    draw = rng.random(len(margin))
    return np.where(draw < tie, OUTCOMES[2], np.where(draw < p + tie / 2, OUTCOMES[0], OUTCOMES[1])).tolist()


def coverage(
    votes: int, ties: float, voters: int = 0, taste: float = 0.0, cluster: bool = True, seed: int = 1
) -> float:
    """Share of intervals that hold the rating of the whole population of voters. `taste` in Elo points per policy."""
    rng = np.random.default_rng(seed)
    held = []
    for _ in range(REPEATS):
        theta = rng.normal(0, 150 / SCALE, POLICIES)
        left = rng.integers(0, POLICIES, votes)
        right = (left + rng.integers(1, POLICIES, votes)) % POLICIES
        voter = rng.integers(0, max(1, voters), votes)
        own = rng.normal(0, taste / SCALE, (max(1, voters), POLICIES))
        margin = theta[left] - theta[right] + own[voter, left] - own[voter, right]
        ballots = [
            Ballot(NAMES[a], NAMES[b], outcome, str(who) if voters else None)
            for a, b, outcome, who in zip(left, right, outcomes(margin, ties, rng), voter, strict=True)
        ]
        found = fit(tally(ballots, NAMES), cluster=cluster)
        held.append(np.abs(found.rating - 1500 - SCALE * population(theta, taste, rng)) <= found.half_width)
    return float(np.mean(held))


def population(theta: NDArray[np.float64], taste: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """The ratings that infinitely many voters with such tastes would give."""
    other = rng.normal(0, taste / SCALE * 2**0.5, 2000)
    score = (1 / (1 + np.exp(-(theta[:, None] - theta[None, :])[..., None] - other))).mean(axis=-1)
    played = 1e6 * (1 - np.eye(len(theta)))
    games = Games(played, played * score, (played, played, played), 0 * played)
    mode = Posterior(games, 1.0, np.ones_like(played, dtype=bool)).mode()[:-1]
    return np.asarray(mode - mode.mean())


@pytest.mark.parametrize(("votes", "ties"), [(100, 0.0), (100, 0.35), (1000, 0.0), (1000, 0.35)])
def test_intervals_hold_the_truth_with_few_and_with_many_votes_and_ties(votes: int, ties: float) -> None:
    assert 0.92 <= coverage(votes, ties) <= 0.98


def test_intervals_hold_the_truth_when_voters_have_tastes_of_their_own() -> None:
    assert 0.91 <= coverage(2000, 0.35, voters=60, taste=150) <= 0.98


def test_taking_such_votes_for_independent_would_promise_too_much() -> None:
    assert coverage(2000, 0.35, voters=60, taste=150, cluster=False) < 0.85
