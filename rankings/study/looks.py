"""A board that grows and is looked at every hour: how often is a pair ever called settled that is not? No Django.

Half of the policies are the other half's twins, so that there are pairs which are truly equal; the truth of the others
is their order. Everything follows from a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rankings.analysis.settled import RULE, decided
from rankings.fit.bradley_terry import SCALE, Fit, fit
from rankings.fit.pairing import Belief, plan
from rankings.fit.ratings import CAP
from rankings.fit.student import Z
from rankings.study.voters import Crowd, outcomes, population, truth
from rankings.tally.arrays import Booleans, Floats, Integers
from rankings.tally.counts import Columns, Counts

HOURS_A_DAY = 24


class Growth(NamedTuple):
    """`policies`, in twins; `hours` looks, `per_hour` votes before each. `uneven`: the logarithm of a pair's chance is
    normal with this spread. `planned`: pairs are drawn as `rankings.fit.pairing` plans them each hour."""

    policies: int = 8
    hours: int = 150
    per_hour: int = 30
    crowd: Crowd = Crowd()
    uneven: float = 0.0
    planned: bool = False


class HourlyVotes(NamedTuple):
    """(votes,) each, in the order of time."""

    left: Integers
    right: Integers
    voter: Integers
    outcome: Integers
    hour: Integers

    def plus(self, other: HourlyVotes) -> HourlyVotes:
        return HourlyVotes(*(np.concatenate(both) for both in zip(self, other, strict=True)))

    def counts(self, policies: int) -> Counts:
        names = [f"p{number:03}" for number in range(policies)]
        robot = np.zeros_like(self.left)
        return Counts.of(
            names, Columns(self.left, self.right, self.voter, robot, self.hour // HOURS_A_DAY, self.outcome)
        )

    def on_pairs(self, policies: int) -> Integers:
        """(k, k) votes on each pair, from either side."""
        found = np.zeros((policies, policies), np.int64)
        np.add.at(found, (self.left, self.right), 1)
        return found + found.T


class GrowingArena:
    """Voters, their tastes and the true ratings of one arena."""

    def __init__(self, growth: Growth, seed: int) -> None:
        self.growth, self.rng = growth, np.random.default_rng(seed)
        self.theta = np.repeat(truth(growth.policies // 2, self.rng), 2)
        crowd, size = growth.crowd, growth.policies
        self.activity = self.rng.lognormal(0.0, 1.0, max(1, crowd.voters))
        self.taste = self.rng.normal(0.0, crowd.taste / SCALE, (max(1, crowd.voters), size))
        chances = np.exp(self.rng.normal(0.0, growth.uneven, size * (size - 1) // 2))
        self.pairs, self.chances = np.stack(np.triu_indices(size, 1), axis=1), chances / chances.sum()

    def votes(self, hour: int, chances: Floats) -> HourlyVotes:
        """One hour's. Without a crowd each vote is another voter's."""
        number, rng = self.growth.per_hour, self.rng
        pairs = self.pairs[rng.choice(len(self.pairs), number, p=chances)]
        swap = rng.random(number) < 0.5
        left, right = np.where(swap, pairs[:, 1], pairs[:, 0]), np.where(swap, pairs[:, 0], pairs[:, 1])
        voter = rng.choice(len(self.activity), number, p=self.activity / self.activity.sum())
        own = self.taste[voter, left] - self.taste[voter, right]
        outcome = outcomes(self.theta[left] - self.theta[right] + own, 0.35, rng)
        if not self.growth.crowd.voters:
            voter = hour * number + np.arange(number)
        return HourlyVotes(left, right, voter, outcome, np.full(number, hour))

    def looks(self, planning: Callable[[Fit], Floats] | None = None) -> Iterator[tuple[HourlyVotes, Fit]]:
        """All votes so far, and the board, after each hour. `planning`: the chances of the pairs from a board."""
        cast, chances = self.votes(0, self.chances), self.chances
        for hour in range(1, self.growth.hours + 1):
            found = fit(cast.counts(self.growth.policies), cap=CAP)
            yield cast, found
            chances = planning(found) if planning and len(found.names) else chances
            cast = cast.plus(self.votes(hour, chances))


class Watched(NamedTuple):
    """What became of each pair (pairs,) over all looks. `gap`: the true difference [Elo points], at least 0.

    `at`: the hour at which it was first settled, -1 for never; `votes` and `own_votes`: those on the board and on the
    pair at that look. `wrong`: ever called better the other way round, or at all where the two are equal; `unequal`:
    ever called equal though more than `alike` apart; `naive`: as `wrong`, had the 95 % interval been asked each hour.
    `half_width`: (k,) of the ratings after the last look. `settled` (hours,): how many pairs are at each look.
    """

    gap: Floats
    at: Integers
    votes: Integers
    own_votes: Integers
    wrong: Booleans
    unequal: Booleans
    naive: Booleans
    half_width: Floats
    settled: Integers


def watch(growth: Growth, seed: int, planning: Callable[[Fit], Floats] | None = None) -> Watched:
    arena = GrowingArena(growth, seed)
    one, other = arena.pairs.T
    true = population(arena.theta, growth.crowd.taste)
    gap = np.where(one // 2 == other // 2, 0.0, true[one] - true[other])
    size = len(one)
    at, votes, own_votes = np.full(size, -1), np.zeros(size, np.int64), np.zeros(size, np.int64)
    wrong, unequal, naive = (np.zeros(size, dtype=bool) for _ in range(3))
    settled = []
    way = planning or (planned(arena) if growth.planned else None)
    for hour, (cast, found) in enumerate(arena.looks(way)):
        difference, deviation = found.rating[one] - found.rating[other], found.difference_sd[one, other]
        different, equal = (words[one, other] for words in decided(found))
        other_way = (gap == 0) | (difference * gap < 0)
        wrong |= different & other_way
        unequal |= equal & (np.abs(gap) > RULE.alike)
        naive |= (np.abs(difference) > Z * deviation) & other_way
        new = (different | equal) & (at < 0)
        at[new], votes[new] = hour, len(cast.left)
        own_votes[new] = cast.on_pairs(growth.policies)[one, other][new]
        settled.append(int((different | equal).sum()))
    return Watched(np.abs(gap), at, votes, own_votes, wrong, unequal, naive, found.half_width, np.array(settled))


def planned(arena: GrowingArena, *, leave_settled: bool = False) -> Callable[[Fit], Floats]:
    """Chances of the arena's pairs as the arena plans them. `leave_settled`: settled pairs get their uniform share."""

    def chances(found: Fit) -> Floats:
        names = found.names
        done: set[tuple[str, str]] = set()
        if leave_settled:
            settled = np.logical_or(*decided(found))
            done = {(names[i], names[j]) for i, j in np.argwhere(settled).tolist() if i < j}
        belief = Belief(names, found.rating, found.posterior)
        found_chances = plan(belief, names, arena.growth.per_hour)
        return _without(found_chances, done, [(names[i], names[j]) for i, j in arena.pairs.tolist()])

    return chances


def _without(chances: dict[tuple[str, str], float], done: set[tuple[str, str]], pairs: list[tuple[str, str]]) -> Floats:
    """(pairs,) those that are done at the least chance that any has, the others' raised in proportion."""
    found = np.array([chances[pair] for pair in pairs])
    least, gone = found.min(), np.array([pair in done for pair in pairs])
    if gone.all():
        return np.asarray(found / found.sum(), dtype=np.float64)
    found[gone] = least
    found[~gone] *= (1.0 - least * gone.sum()) / found[~gone].sum()
    return np.asarray(found, dtype=np.float64)
