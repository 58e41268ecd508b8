"""The sequential test of voters: honest ones stay below the line however often one looks, rigged ones cross it."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.study.suspicion import People, caught, honest, suspected
from rankings.study.voters import counted
from rankings.tally.counts import OUTCOMES
from rankings.trust.outliers import ALPHA, OutlierEvidence, PooledVotes, evidence

POLICIES = 8
NAMES = tuple("abcdefgh")
Votes = tuple[np.ndarray, np.ndarray, np.ndarray]


class Arena:
    """Honest voters, each with a taste of its own (sd 60 points), on pairs drawn evenly; and what the crowd says."""

    def __init__(self, seed: int, voters: int, each: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.truth = self.rng.normal(0, 150, POLICIES)
        self.honest = [self.vote(each, self.rng.normal(0, 60, POLICIES)) for _ in range(voters)]

    def vote(self, number: int, taste: np.ndarray) -> Votes:
        pairs = np.array([self.rng.choice(POLICIES, 2, replace=False) for _ in range(number)])
        left, right = pairs.T
        ability = self.truth + taste
        p = 1 / (1 + 10 ** ((ability[right] - ability[left]) / 400))
        cast = np.array([self.rng.choice(4, p=[0.7 * q, 0.7 * (1 - q), 0.2, 0.1]) for q in p])
        return left, right, cast

    def crowd(self, *more: Votes) -> PooledVotes:
        outcomes = np.zeros((POLICIES, POLICIES, 4), np.int64)
        for votes in (*self.honest, *more):
            np.add.at(outcomes, votes, 1)
        return PooledVotes(NAMES, outcomes, 1500 + self.truth - self.truth.mean())


def rigged(arena: Arena, number: int, outcome: str = "", favourite: int | None = None) -> Votes:
    left, right, cast = arena.vote(number, np.zeros(POLICIES))
    if outcome:
        cast = np.full(number, OUTCOMES.index(outcome))
    if favourite is not None:
        cast = np.where(left == favourite, 0, np.where(right == favourite, 1, cast))
    return left, right, cast


def test_honest_voters_are_rarely_suspected_however_often_one_looks() -> None:
    suspected = looked_at = 0
    for seed in range(3):
        arena = Arena(seed, voters=150, each=25)
        crowd = arena.crowd()
        found = [evidence(crowd, *votes) for votes in arena.honest]
        suspected += sum(each.suspicious(alpha=0.01) for each in found)
        looked_at += len(found)
    assert suspected / looked_at <= 0.02


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_who_always_says_the_same_is_suspected_within_thirty_votes(outcome: str) -> None:
    arena = Arena(5, voters=60, each=25)
    votes = rigged(arena, 30, outcome)
    found = evidence(arena.crowd(votes), *votes)
    assert found.suspicious(ALPHA)
    assert found.way == f"always {outcome}"


def test_who_votes_for_one_policy_is_suspected_and_the_policy_named() -> None:
    arena = Arena(6, voters=60, each=25)
    weakest = int(np.argmin(arena.truth))
    votes = rigged(arena, 80, favourite=weakest)
    found = evidence(arena.crowd(votes), *votes)
    assert found.suspicious(ALPHA)
    assert found.way == f"always for {NAMES[weakest]}"


def test_voting_for_whom_everybody_votes_is_no_offence() -> None:
    arena = Arena(7, voters=60, each=25)
    arena.truth[2] += 700
    arena.honest = [arena.vote(25, np.zeros(POLICIES)) for _ in range(60)]
    votes = rigged(arena, 40, favourite=2)
    assert not evidence(arena.crowd(votes), *votes).suspicious(ALPHA)


def test_clicking_at_random_is_found_in_the_end() -> None:
    arena = Arena(8, voters=60, each=25)
    left, right, _ = arena.vote(400, np.zeros(POLICIES))
    votes = (left, right, arena.rng.integers(0, 4, 400))
    found = evidence(arena.crowd(votes), *votes)
    assert found.suspicious(ALPHA)


def test_pairs_on_which_nobody_else_voted_prove_nothing() -> None:
    lonely = (np.zeros(50, int), np.ones(50, int), np.zeros(50, int))
    outcomes = np.zeros((POLICIES, POLICIES, 4), np.int64)
    np.add.at(outcomes, lonely, 1)
    crowd = PooledVotes(NAMES, outcomes, np.full(POLICIES, 1500.0))
    assert evidence(crowd, *lonely) == OutlierEvidence(0.0, 0, "")


def test_fewer_than_five_votes_prove_nothing() -> None:
    assert not OutlierEvidence(9.0, 4, "always tie").suspicious(ALPHA)
    assert OutlierEvidence(9.0, 5, "always tie").suspicious(ALPHA)


def test_sides_are_told_apart_from_policies() -> None:
    """A vote seen from the other side is the same vote: expectations mirror."""
    arena = Arena(9, voters=40, each=25)
    crowd = arena.crowd()
    left, right, cast = arena.vote(10, np.zeros(POLICIES))
    p, others = crowd.expectations(left, right, cast)
    mirrored, same = crowd.expectations(right, left, np.array([1, 0, 2, 3])[cast])
    assert np.allclose(p, mirrored[:, [1, 0, 2, 3]])
    assert np.array_equal(others, same)
    assert np.allclose(p.sum(axis=1), 1.0)


def test_honest_voters_with_strong_tastes_and_five_hundred_votes_are_not_suspected() -> None:
    """Before, 9 of such 30 were: the test took them to say even as often of a policy they like as others do."""
    people = People(taste=200, heavy=10)
    found = []
    for seed in range(3):
        cast = honest(people, np.random.default_rng(seed))
        found += suspected(counted(people.contestants, cast), cast, range(10))
    assert found == []


def test_who_votes_as_no_honest_voter_does_is_still_suspected() -> None:
    assert caught(People(), "always the left side", 20, seed=1)
    assert caught(People(taste=200), "always both bad", 40, seed=1)
    assert caught(People(), "at random", 200, seed=1)
