"""Simulated voters who are tested one by one: honest ones of many kinds, and bots. Follows from a seed. No Django.

Honest voters have tastes and habits: a liking for the left side, for saying even, and for both bad among these, all
normal in log odds. How much each votes is lognormal, some vote much more; pairs are drawn unequally.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import SCALE, fit
from rankings.fit.posterior import sigmoid
from rankings.fit.ratings import CAP
from rankings.study.voters import Votes, counted
from rankings.tally.arrays import Floats, Integers
from rankings.tally.counts import Counts
from rankings.trust.outliers import PooledVotes, evidence

EVEN, BAD = -0.6, -0.8
"""Log odds of saying even between equals, and of both bad among these, for the average voter."""


class People(NamedTuple):
    """`taste` and `spread`: Elo points by which voters differ per policy, and policies among themselves. `side`, `even`
    and `bad`: by how much voters differ in their habits [log odds]. `heavy`: so many voters cast 500 votes each."""

    policies: int = 10
    votes: int = 4000
    voters: int = 300
    taste: float = 100.0
    spread: float = 150.0
    side: float = 0.15
    even: float = 0.5
    bad: float = 0.8
    heavy: int = 0


HEAVY_VOTES = 500


class VotesInOrder(NamedTuple):
    """Votes in the order in which they were cast, all (votes,)."""

    voter: Integers
    left: Integers
    right: Integers
    outcome: Integers

    def of(self, rows: np.ndarray) -> VotesInOrder:
        return VotesInOrder(*(column[rows] for column in self))


def honest(people: People, rng: np.random.Generator) -> VotesInOrder:
    size = people.policies
    theta = rng.normal(0.0, people.spread / SCALE, size)
    activity = np.cumsum(rng.lognormal(0.0, 1.0, people.voters))
    voter = np.searchsorted(activity / activity[-1], rng.random(people.votes))
    voter = np.concatenate([voter, np.repeat(np.arange(people.heavy), HEAVY_VOTES)]).astype(np.int64)
    voter = rng.permutation(voter)
    left, right = pairs(size, len(voter), rng)
    own = theta + rng.normal(0.0, people.taste / SCALE, (people.voters, size))
    habits = rng.normal(0.0, 1.0, (3, people.voters)) * np.array([[people.side], [people.even], [people.bad]])
    hopeless = rng.normal(0.0, 0.5, size)
    margin = own[voter, left] - own[voter, right]
    return VotesInOrder(voter, left, right, _said(margin, hopeless[left] + hopeless[right], habits[:, voter], rng))


def pairs(size: int, votes: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Some are drawn several times as often as others."""
    often = rng.lognormal(0.0, 0.5, (size, size))
    np.fill_diagonal(often, 0.0)
    drawn = rng.choice(size * size, votes, p=(often / often.sum()).ravel())
    return (drawn // size).astype(np.int64), (drawn % size).astype(np.int64)


def _said(margin: Floats, hopeless: Floats, habits: Floats, rng: np.random.Generator) -> Integers:
    """(votes,) places in OUTCOMES. `hopeless` (votes,): how much both policies make one say both bad [log odds]."""
    side, even, bad = habits
    p = sigmoid(margin)
    even_odds = EVEN + even + np.log(4.0 * p * (1.0 - p) + 1e-9)
    is_even = rng.random(len(p)) < sigmoid(even_odds)
    is_bad = rng.random(len(p)) < sigmoid(BAD + hopeless + bad)
    is_left = rng.random(len(p)) < sigmoid(margin + side)
    return np.where(is_even, 2 + is_bad, 1 - is_left).astype(np.int64)


def board(policies: int, cast: VotesInOrder) -> PooledVotes:
    found: Counts = counted(policies, cast.left, cast.right, cast.voter, cast.outcome)
    return PooledVotes(found.names, found.per_pair(), fit(found, cap=CAP).rating)


def suspected(policies: int, cast: VotesInOrder, voters: Integers) -> set[int]:
    crowd = board(policies, cast)
    found = set()
    for voter in voters.tolist():
        _, left, right, outcome = cast.of(cast.voter == voter)
        if evidence(crowd, left, right, outcome).suspicious():
            found.add(voter)
    return found


def ever_suspected(people: People, *, seed: int, looks: int = 5) -> tuple[int, int]:
    """Of honest voters: how many after any vote, at any of so many looks at a growing board; and how many they are."""
    cast = honest(people, np.random.default_rng(seed))
    voters = np.unique(cast.voter)
    ends = np.linspace(0, len(cast.voter), looks + 1).astype(int)[1:]
    each = (suspected(people.policies, cast.of(np.arange(end)), voters) for end in ends.tolist())
    return len(set().union(*each)), len(voters)


def caught(people: People, bot: str, votes: int, *, seed: int) -> bool:
    """Whether one bot among honest voters is suspected. `bot`: one of BOTS."""
    rng = np.random.default_rng(seed)
    cast = honest(people, rng)
    left, right, outcome = BOTS[bot](people.policies, votes, rng)
    number = people.voters
    whole = VotesInOrder(
        *(np.concatenate(both) for both in zip(cast, (np.full(votes, number), left, right, outcome), strict=True))
    )
    return bool(suspected(people.policies, whole, np.array([number])))


def _always(outcome: int, policies: int, votes: int, rng: np.random.Generator) -> Votes:
    return *pairs(policies, votes, rng), np.full(votes, outcome)


def _at_random(policies: int, votes: int, rng: np.random.Generator) -> Votes:
    return *pairs(policies, votes, rng), rng.integers(0, 4, votes)


def _for_the_last(policies: int, votes: int, rng: np.random.Generator) -> Votes:
    """Where the last policy is one of the pair, as in half of the votes; a coin decides the others."""
    left, right = pairs(policies, votes, rng)
    left = np.where((rng.random(votes) < 0.5) & (right != policies - 1), policies - 1, left)
    coin = rng.integers(0, 2, votes)
    return left, right, np.where(left == policies - 1, 0, np.where(right == policies - 1, 1, coin))


BOTS: dict[str, Callable[[int, int, np.random.Generator], Votes]] = {
    "always the left side": partial(_always, 0),
    "always a tie": partial(_always, 2),
    "always both bad": partial(_always, 3),
    "at random": _at_random,
    "for one policy": _for_the_last,
}
