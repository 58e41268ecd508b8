"""What intervals of the first release did not hold, with what it already had: d88c6e0 fails each test here.

Simulated votes, fixed seeds. Which mean ratings are told from is asked of the fit; the release took the plain one.
"""

from __future__ import annotations

import numpy as np
import pytest

from rankings.fit.bradley_terry import SCALE, Fit, fit
from rankings.fit.posterior import Games, Posterior, sigmoid
from rankings.tally.arrays import Floats
from rankings.tally.counts import Columns, Counts

POLICIES = 10
TASTE = 100.0
"""Elo points by which voters differ, per policy."""
NODES, SHARES = np.polynomial.hermite_e.hermegauss(41)


def veterans_and_a_newcomer(votes: int, rng: np.random.Generator) -> tuple[Floats, Counts]:
    """True ratings [Elo points], and so many votes on the veterans, 30 on the last policy; nobody knows who voted."""
    theta = rng.normal(0.0, 150.0, POLICIES + 1)
    left = np.concatenate([rng.integers(0, POLICIES, votes), np.full(30, POLICIES)])
    right = np.concatenate(
        [(left[:votes] + rng.integers(1, POLICIES, votes)) % POLICIES, rng.integers(0, POLICIES, 30)]
    )
    lost = rng.random(len(left)) > sigmoid((theta[left] - theta[right]) / SCALE)
    names, none = [f"p{number:02}" for number in range(POLICIES + 1)], np.zeros(len(left), np.int64)
    return theta, Counts.of(names, Columns(left, right, none - 1, none, none, lost.astype(np.int64)))


def votes_of_few(voters: int, votes: int, days: int, rng: np.random.Generator) -> tuple[Floats, Counts]:
    """The ratings that all people with such tastes would give [Elo points], and the votes of some of them."""
    theta = rng.normal(0.0, 150.0, POLICIES)
    left = rng.integers(0, POLICIES, votes)
    right = (left + rng.integers(1, POLICIES, votes)) % POLICIES
    active = rng.lognormal(0.0, 1.0, voters)
    voter = rng.choice(voters, votes, p=active / active.sum())
    taste = theta + rng.normal(0.0, TASTE, (voters, POLICIES))
    p = sigmoid((taste[voter, left] - taste[voter, right]) / SCALE)
    tie, draw = 1.4 * p * (1.0 - p), rng.random(votes)
    outcome = np.where(draw < tie, 2, np.where(draw < p + tie / 2.0, 0, 1))
    names, day = [f"p{number:02}" for number in range(POLICIES)], rng.integers(0, days, votes)
    return of_all(theta), Counts.of(names, Columns(left, right, voter, np.zeros(votes, np.int64), day, outcome))


def of_all(theta: Floats) -> Floats:
    margin = (theta[:, None] - theta[None, :])[..., None] / SCALE + 2**0.5 * TASTE / SCALE * NODES
    played = 1e6 * (1.0 - np.eye(POLICIES))
    score = played * (sigmoid(margin) @ (SHARES / SHARES.sum()))
    games = Games(played, score, (played, played, played), 0.0 * played)
    return np.asarray(SCALE * Posterior(games, 1.0, np.ones_like(played, dtype=bool)).mode()[:-1])


def holds(found: Fit, true: Floats) -> Floats:
    """(k,) whether each interval does."""
    weight = getattr(found, "weight", np.full(len(true), 1.0 / len(true)))
    return np.asarray(np.abs(found.rating - 1500.0 - (true - weight @ true)) <= found.half_width)


@pytest.mark.parametrize("votes", [3_000, 30_000, 100_000])
def test_beside_a_newcomer_the_veterans_intervals_hold_the_truth(votes: int) -> None:
    rng, held = np.random.default_rng(1), []
    for _ in range(60):
        true, counts = veterans_and_a_newcomer(votes, rng)
        held.append(holds(fit(counts), true)[:POLICIES])
    assert 0.93 <= np.mean(held) <= 0.975


@pytest.mark.parametrize(("voters", "votes", "days"), [(10, 1000, 20), (20, 3000, 30), (60, 2000, 20)])
def test_intervals_from_few_voters_of_own_taste_hold_the_truth(voters: int, votes: int, days: int) -> None:
    rng, held = np.random.default_rng(4), []
    for _ in range(120):
        true, counts = votes_of_few(voters, votes, days, rng)
        held.append(holds(fit(counts, cap=15), true))
    assert 0.93 <= np.mean(held) <= 0.975
