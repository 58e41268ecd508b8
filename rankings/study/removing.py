"""Simulated close races: does the influence report find every voter who matters? Follows from a seed. No Django."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit, fit
from rankings.fit.ratings import CAP
from rankings.study.voters import outcomes
from rankings.tally.arrays import Floats
from rankings.tally.counts import Columns, Counts
from rankings.trust.influence import PLACES, influence
from rankings.trust.standing import standing


class Race(NamedTuple):
    """The one of `arenas` arenas in which a gap of the top three is closest. `spread`: standard deviation of the
    policies [Elo points]; with several robots they differ by as much on each."""

    policies: int
    votes: int
    voters: int
    spread: float = 60.0
    robots: int = 1
    taste: float = 100.0
    arenas: int = 5


class FoundMovers(NamedTuple):
    """`movers`: by leaving each voter out and fitting again; `found` of them are reported, and `wrong` who are not
    among them. `looked_at` and `complete` as reported."""

    movers: int
    found: int
    wrong: int
    looked_at: int
    complete: bool


def voted(race: Race, rng: np.random.Generator) -> Counts:
    size, votes = race.policies, race.votes
    theta: Floats = rng.normal(0.0, race.spread / SCALE, size)
    offset = rng.normal(0.0, race.spread / SCALE if race.robots > 1 else 0.0, (race.robots, size))
    activity = np.cumsum(rng.lognormal(0.0, 1.0, race.voters))
    voter = np.searchsorted(activity / activity[-1], rng.random(votes)).astype(np.int64)
    left = rng.integers(0, size, votes)
    right = (left + rng.integers(1, size, votes)) % size
    robot = np.minimum(rng.geometric(0.5, votes) - 1, race.robots - 1)
    own = rng.normal(0.0, race.taste / SCALE, (race.voters, size)) + theta
    margin = own[voter, left] - own[voter, right] + offset[robot, left] - offset[robot, right]
    names = [f"p{number:03}" for number in range(size)]
    day = np.zeros(votes, np.int64)
    return Counts.of(names, Columns(left, right, voter, robot, day, outcomes(margin, 0.35, rng)))


def _closest(found: Fit) -> float:
    """The least gap between two neighbours of the first four."""
    best = np.sort(found.rating)[::-1][: PLACES + 1]
    return float(np.min(best[:-1] - best[1:]))


def compared(race: Race, *, seed: int) -> FoundMovers:
    """The report beside leaving out each voter."""
    drawn = [voted(race, np.random.default_rng([seed, number])) for number in range(race.arenas)]
    counts = min(drawn, key=lambda each: _closest(fit(each, cap=CAP)))
    fitted = fit(counts, cap=CAP)
    asked = standing(counts, fitted, fitted.names, cap=CAP)
    found = influence(asked)
    voters = np.unique(counts.voter).tolist()
    movers = {voter for voter in voters if asked.changed(np.array([voter]))[0]}
    told = set(found["movers"])
    return FoundMovers(len(movers), len(told & movers), len(told - movers), found["looked_at"], found["complete"])
