"""Simulated voters. Everything follows from a seed. No Django.

True ratings are normal with a standard deviation of SPREAD points. A voter's own taste is normal too, per contestant.
The truth is then the rating that infinitely many such voters would give. Ties take a given share of votes between
equals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankings.analysis.comparison import NODES, WEIGHTS
from rankings.fit.bradley_terry import MEAN, SCALE, Fit
from rankings.fit.posterior import Games, Posterior, sigmoid
from rankings.tally.arrays import Booleans, Floats, Integers
from rankings.tally.counts import UNKNOWN_VOTER, Columns, Counts

SPREAD = 150.0
TIES = 0.35

Pairs = tuple[Integers, Integers]
"""(votes,) left and right of each."""


@dataclass(frozen=True)
class Crowd:
    """Who votes. `taste`: Elo points per contestant. `heavy`: the share of votes that one voter casts.

    `voters` 0 means that nobody is known and each vote is another's. Activity is lognormal, as on the open web.
    """

    voters: int = 0
    taste: float = 0.0
    heavy: float = 0.0


@dataclass(frozen=True)
class Scenario:
    """`unequal`: how unlike pairs are drawn, the standard deviation of the logarithm of a pair's chance; 0: all alike.
    `newcomer`: so many votes on one more contestant, the last, which has no others. `days` over which votes are
    spread."""

    contestants: int = 10
    votes: int = 1000
    ties: float = TIES
    crowd: Crowd = Crowd()
    unequal: float = 0.0
    newcomer: int = 0
    days: int = 1


def truth(contestants: int, rng: np.random.Generator) -> Floats:
    """(k,) natural units."""
    return rng.normal(0.0, SPREAD / SCALE, contestants)


def simulate(theta: Floats, setting: Scenario, rng: np.random.Generator) -> Counts:
    """`theta` (k,): also of the newcomer, where there is one."""
    size, crowd = len(theta), setting.crowd
    left, right = unequal_pairs(size - (setting.newcomer > 0), setting.votes, setting.unequal, rng)
    if setting.newcomer:
        left = np.concatenate([left, np.full(setting.newcomer, size - 1)])
        right = np.concatenate([right, rng.integers(0, size - 1, setting.newcomer)])
    voter = voters_of(crowd, len(left), rng)
    own = opinions(theta, crowd, rng)
    day = rng.integers(0, setting.days, len(left))
    outcome = outcomes(own[voter, left] - own[voter, right], setting.ties, rng)
    return counted(size, columns(left, right, outcome, voter, day))


def voters_of(crowd: Crowd, votes: int, rng: np.random.Generator) -> Integers:
    """(votes,) each vote's voter by number, or UNKNOWN_VOTER."""
    if not crowd.voters:
        return np.full(votes, UNKNOWN_VOTER)
    found = active_voters(crowd.voters, votes, rng)
    found[rng.random(votes) < crowd.heavy] = 0
    return found


def active_voters(voters: int, votes: int, rng: np.random.Generator) -> Integers:
    """(votes,) each vote's voter by number; how much a voter votes is lognormal."""
    activity = np.cumsum(rng.lognormal(0.0, 1.0, voters))
    return np.searchsorted(activity / activity[-1], rng.random(votes)).astype(np.int64)


def equal_pairs(size: int, votes: int, rng: np.random.Generator) -> Pairs:
    left = rng.integers(0, size, votes)
    return left, (left + rng.integers(1, size, votes)) % size


def unequal_pairs(size: int, votes: int, spread: float, rng: np.random.Generator) -> Pairs:
    """`spread`: standard deviation of the logarithm of a pair's chance."""
    often = rng.lognormal(0.0, spread, (size, size))
    np.fill_diagonal(often, 0.0)
    pair = rng.choice(size * size, votes, p=(often / often.sum()).ravel()).astype(np.int64)
    return pair // size, pair % size


def unequal_chances(size: int, spread: float, rng: np.random.Generator) -> Floats:
    """(size,) lognormal, summing to 1."""
    found = rng.lognormal(0.0, spread, size)
    chances: Floats = found / found.sum()
    return chances


def opinions(theta: Floats, crowd: Crowd, rng: np.random.Generator) -> Floats:
    """(voters, k) natural units: the true abilities `theta` (k,) as each voter's taste shifts them."""
    return theta + rng.normal(0.0, crowd.taste / SCALE, (max(1, crowd.voters), len(theta)))


def outcomes(margin: Floats, ties: float | Floats, rng: np.random.Generator) -> Integers:
    """Places in OUTCOMES. `ties` is their share between equals; the expected score is sigmoid(margin)."""
    p = sigmoid(margin)
    tie = ties * 4.0 * p * (1.0 - p)
    draw = rng.random(len(margin))
    return np.where(draw < tie, 2, np.where(draw < p + tie / 2.0, 0, 1)).astype(np.int64)


def columns(
    left: Integers, right: Integers, outcome: Integers, voter: Integers | None = None, day: Integers | None = None
) -> Columns:
    """Votes on one setting in the order in which they were cast; without `voter` nobody is known, without `day` all are
    of one day."""
    zeros = np.zeros(len(left), np.int64)
    return Columns(
        left, right, zeros + UNKNOWN_VOTER if voter is None else voter, zeros, zeros if day is None else day, outcome
    )


def chosen(votes: Columns, rows: slice | Booleans) -> Columns:
    return Columns(*(column[rows] for column in votes))


def joined(*parts: Columns) -> Columns:
    return Columns(*map(np.concatenate, zip(*parts, strict=True)))


def counted(size: int, votes: Columns) -> Counts:
    return Counts.of([name(number) for number in range(size)], votes)


def name(contestant: int) -> str:
    return f"p{contestant:03}"


def scores(theta: Floats, taste: float) -> Floats:
    """(k, k) what the left contestant scores with infinitely many voters with such tastes."""
    margin = (theta[:, None] - theta[None, :])[..., None] + np.sqrt(2.0) * taste / SCALE * NODES
    return sigmoid(margin) @ WEIGHTS


def population(theta: Floats, taste: float) -> Floats:
    """(k,) Elo points about 0: the ratings that infinitely many voters with such tastes would give."""
    score = scores(theta, taste)
    played = 1e6 * (1.0 - np.eye(len(theta)))
    games = Games(played, played * score, (played, played, played), 0.0 * played)
    mode = Posterior(games, 1.0, np.ones_like(played, dtype=bool)).mode()[:-1]
    found: Floats = SCALE * (mode - mode.mean())
    return found


def holds(found: Fit, true: Floats) -> Booleans:
    """(k,) whether each interval holds the truth (k,) [Elo points], both about the board's mean."""
    return np.abs(found.rating - (MEAN + true - found.weight @ true)) <= found.half_width


def rank_correlation(one: Floats, other: Floats) -> float:
    """Spearman's, of values without ties."""
    ranks = [np.argsort(np.argsort(values)) for values in (one, other)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


class Aim(NamedTuple):
    """Whom stuffed votes are about, by how many true ratings are above: `target`, None for the one in the middle, and
    always the same `opponent`, None for all others."""

    target: int | None = None
    opponent: int | None = None

    def at(self, theta: Floats) -> int:
        return int(np.argsort(-theta)[(len(theta) - 1) // 2 if self.target is None else self.target])

    def against(self, theta: Floats, votes: int, rng: np.random.Generator) -> Integers:
        """(votes,)"""
        others = (self.at(theta) + rng.integers(1, len(theta), votes)) % len(theta)
        return others if self.opponent is None else np.full(votes, np.argsort(-theta)[self.opponent])
