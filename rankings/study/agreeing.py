"""Simulated voters beside physics: does the interval of agreement hold? Everything follows from a seed. No Django.

Each side of a battle reaches its goal with its policy's chance. Voters have tastes, care for success more or less, and
say even more or less often; they all differ in that, and how much each votes is lognormal.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from rankings.analysis.agreement import Judgements, PartingRule, kappa, share_against, told
from rankings.fit.bradley_terry import SCALE
from rankings.fit.clusters import Clusters
from rankings.fit.posterior import sigmoid
from rankings.study.voters import SPREAD
from rankings.tally.arrays import Floats, Integers
from rankings.tally.facts import EVEN, LEFT, RIGHT

POLICIES = 8
MANY = 400_000
"""So many voters, with five votes each, tell the truth of a population to a third of a hundredth."""


class Judges(NamedTuple):
    """`taste`: Elo points per policy. `care`: log odds that success is worth, on average and as voters differ in it.
    `ties`: log odds of saying even between equals, likewise."""

    taste: float = 300.0
    care: tuple[float, float] = (1.5, 1.0)
    ties: tuple[float, float] = (-1.0, 1.0)


def judged(judges: Judges, votes: int, voters: int, rng: np.random.Generator) -> Clusters:
    """The table of each voter of a crowd in an arena that is always the same."""
    arena = np.random.default_rng(7)
    theta = arena.normal(0.0, SPREAD / SCALE, POLICIES)
    skill = sigmoid(theta + arena.normal(0.0, 0.5, POLICIES))
    activity = np.cumsum(rng.lognormal(0.0, 1.0, voters))
    voter = np.searchsorted(activity / activity[-1], rng.random(votes)).astype(np.int64)
    left = rng.integers(0, POLICIES, votes)
    right = (left + rng.integers(1, POLICIES, votes)) % POLICIES
    reached = rng.random((2, votes)) < skill[np.stack([left, right])]
    ahead = reached[0].astype(float) - reached[1]
    own = rng.normal(0.0, judges.taste / SCALE, (voters, POLICIES))
    care, ties = rng.normal(*judges.care, voters), sigmoid(rng.normal(*judges.ties, voters))
    margin = theta[left] - theta[right] + own[voter, left] - own[voter, right] + care[voter] * ahead
    vote = _said(margin, ties[voter], rng)
    physics = np.where(ahead > 0, LEFT, np.where(ahead < 0, RIGHT, EVEN))
    return Judgements(vote, physics, voter).tables


def _said(margin: Floats, ties: Floats, rng: np.random.Generator) -> Integers:
    """(votes,) LEFT, RIGHT or EVEN, as in `studies.voters.outcomes` with each vote's own share of ties."""
    p = sigmoid(margin)
    tie, draw = ties * 4.0 * p * (1.0 - p), rng.random(len(margin))
    found: Integers = np.where(draw < tie, EVEN, np.where(draw < p + tie / 2.0, LEFT, RIGHT)).astype(np.int64)
    return found


@cache
def truth(judges: Judges, seed: int) -> tuple[float, float]:
    """Kappa and the share against, of as many voters as one likes."""
    table = judged(judges, 5 * MANY, MANY, np.random.default_rng(seed)).total[None, :]
    return float(kappa(table)[0]), float(share_against(table)[0])


class AgreementCoverage(NamedTuple):
    """Share of intervals that hold the truth, and their mean half-width."""

    kappa: float
    kappa_width: float
    against: float
    against_width: float


def held(judges: Judges, votes: int, voters: int, *, repeats: int, seed: int) -> AgreementCoverage:
    """Arenas in which kappa or the share is undefined are left out."""
    value, share = truth(judges, seed)
    found = []
    for number in range(repeats):
        each = told(judged(judges, votes, voters, np.random.default_rng([seed, number])), PartingRule())
        ends = (each["kappa_low"], each["kappa_high"], each["against"]["low"], each["against"]["high"])
        found.append([np.nan if end is None else end for end in ends])
    low, high, least, most = np.array(found).T
    return AgreementCoverage(*_inside(low, high, value), *_inside(least, most, share))


def _inside(low: Floats, high: Floats, value: float) -> tuple[float, float]:
    known = ~np.isnan(low)
    return float(np.mean((low <= value) & (value <= high), where=known)), float(np.nanmean(high - low) / 2.0)
