"""Simulated voters: does the ranking keep its promises? Everything follows from a seed. No Django.

True ratings are normal with a spread of SPREAD points. A voter's own taste is normal too, per policy; the truth is then
the rating that infinitely many such voters would give. Ties take a given share of votes between equals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import MEAN, SCALE, Fit, fit
from rankings.fit.pairing import Belief, plan
from rankings.fit.posterior import Games, Posterior, sigmoid
from rankings.fit.ratings import CAP
from rankings.fit.student import Z
from rankings.tally.arrays import Booleans, Floats, Integers
from rankings.tally.counts import UNKNOWN_VOTER, Columns, Counts

SPREAD = 150.0
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


Votes = tuple[Integers, Integers, Integers]
"""(votes,) left, right and outcome of each."""


@dataclass(frozen=True)
class Crowd:
    """Who votes. `taste`: Elo points per policy. `heavy`: the share of votes that one voter casts.

    `voters` 0 means that nobody is known and each vote is another's. Activity is lognormal, as on the open web.
    """

    voters: int = 0
    taste: float = 0.0
    heavy: float = 0.0


@dataclass(frozen=True)
class Scenario:
    """`unequal`: how unlike pairs are drawn, the standard deviation of the logarithm of a pair's chance; 0: all alike.
    `newcomer`: so many votes on one more policy, the last, which has no others. `days` over which votes are spread."""

    policies: int = 10
    votes: int = 1000
    ties: float = 0.35
    crowd: Crowd = Crowd()
    unequal: float = 0.0
    newcomer: int = 0
    days: int = 1


def truth(policies: int, rng: np.random.Generator) -> Floats:
    """(k,) natural units."""
    return rng.normal(0.0, SPREAD / SCALE, policies)


def simulate(theta: Floats, setting: Scenario, rng: np.random.Generator) -> Counts:
    """`theta` (k,): also of the newcomer, where there is one."""
    size, crowd = len(theta), setting.crowd
    left, right = _drawn(size - (setting.newcomer > 0), setting, rng)
    if setting.newcomer:
        left = np.concatenate([left, np.full(setting.newcomer, size - 1)])
        right = np.concatenate([right, rng.integers(0, size - 1, setting.newcomer)])
    voter = _voters(crowd, len(left), rng)
    margin = margins(theta, left, right, voter, crowd, rng)
    known = voter if crowd.voters else np.full(len(left), UNKNOWN_VOTER)
    day = rng.integers(0, setting.days, len(left))
    return counted(size, left, right, known, outcomes(margin, setting.ties, rng), day)


def margins(
    theta: Floats, left: Integers, right: Integers, voter: Integers, crowd: Crowd, rng: np.random.Generator
) -> Floats:
    """(votes,) of voters with tastes, by their numbers from 0."""
    own = rng.normal(0.0, crowd.taste / SCALE, (max(1, crowd.voters), len(theta)))
    found: Floats = theta[left] - theta[right] + own[voter, left] - own[voter, right]
    return found


def _drawn(size: int, setting: Scenario, rng: np.random.Generator) -> tuple[Integers, Integers]:
    often = rng.lognormal(0.0, setting.unequal, (size, size))
    np.fill_diagonal(often, 0.0)
    pair = rng.choice(size * size, setting.votes, p=(often / often.sum()).ravel()).astype(np.int64)
    return pair // size, pair % size


def counted(
    size: int, left: Integers, right: Integers, voter: Integers, outcome: Integers, day: Integers | None = None
) -> Counts:
    """`day`: all on one day without."""
    zeros = np.zeros(len(left), np.int64)
    names = [f"p{number:03}" for number in range(size)]
    return Counts.of(names, Columns(left, right, voter, zeros, zeros if day is None else day, outcome))


def outcomes(margin: Floats, ties: float, rng: np.random.Generator) -> Integers:
    """Places in OUTCOMES. `ties` is their share between equals; the expected score is sigmoid(margin)."""
    p = sigmoid(margin)
    tie = ties * 4.0 * p * (1.0 - p)
    draw = rng.random(len(margin))
    found: Integers = np.where(draw < tie, 2, np.where(draw < p + tie / 2.0, 0, 1)).astype(np.int64)
    return found


def scores(theta: Floats, taste: float) -> Floats:
    """(k, k) what the left policy scores with infinitely many voters with such tastes."""
    margin = (theta[:, None] - theta[None, :])[..., None] + np.sqrt(2.0) * taste / SCALE * NODES
    found: Floats = sigmoid(margin) @ (WEIGHTS / WEIGHTS.sum())
    return found


def population(theta: Floats, taste: float) -> Floats:
    """(k,) Elo points about 0: the ratings that infinitely many voters with such tastes would give."""
    score = scores(theta, taste)
    played = 1e6 * (1.0 - np.eye(len(theta)))
    games = Games(played, played * score, (played, played, played), 0.0 * played)
    mode = Posterior(games, 1.0, np.ones_like(played, dtype=bool)).mode()[:-1]
    found: Floats = SCALE * (mode - mode.mean())
    return found


def rated(truth: Floats, found: Fit) -> Floats:
    """(k,) what the board would print if it knew the truth (k,) [Elo points]: about the mean that it is told from."""
    known: Floats = MEAN + truth - found.weight @ truth
    return known


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


MIDDLE = Aim()


@dataclass(frozen=True)
class Coverage:
    """Share of intervals that hold the truth, over all repeats and policies, and their mean half-width; `newcomer`:
    the same of the newcomer alone, who is not among the others. `differences`: of all pairs' differences."""

    held: float
    half_width: float
    newcomer: float
    differences: float


def coverage(setting: Scenario, *, repeats: int, seed: int, cap: int = CAP, cluster: bool = True) -> Coverage:
    """In arenas that are drawn anew each time."""
    rng = np.random.default_rng(seed)
    held, widths, apart = [], [], []
    for _ in range(repeats):
        theta = truth(setting.policies + (setting.newcomer > 0), rng)
        found = fit(simulate(theta, setting, rng), cap=cap, cluster=cluster)
        true = population(theta, setting.crowd.taste)
        held.append(np.abs(found.rating - rated(true, found)) <= found.half_width)
        widths.append(found.half_width)
        error = np.abs(np.subtract.outer(found.rating, found.rating) - np.subtract.outer(true, true))
        apart.append((error <= Z * found.difference_sd)[np.triu_indices(len(theta), 1)])
    old, inside = slice(0, setting.policies), np.array(held)
    newcomer = float(inside[:, setting.policies :].mean()) if setting.newcomer else float("nan")
    return Coverage(
        float(inside[:, old].mean()), float(np.array(widths)[:, old].mean()), newcomer, float(np.mean(apart))
    )


def stuffing(*, honest: int, stuffed: int, cap: int, aim: Aim = MIDDLE, policies: int = 10, seed: int) -> float:
    """Elo points by which the most moved rating moves when one visitor votes `stuffed` times for one policy, where
    nobody's network is known and the cap is all there is."""
    rng = np.random.default_rng(seed)
    theta = truth(policies, rng)
    left = rng.integers(0, policies, honest + stuffed)
    right = (left + rng.integers(1, policies, honest + stuffed)) % policies
    outcome = outcomes(theta[left] - theta[right], 0.35, rng)
    voter = rng.integers(0, honest // 5, honest + stuffed)
    voter[honest:], outcome[honest:] = honest, 0
    left[honest:] = aim.at(theta)
    right[honest:] = aim.against(theta, stuffed, rng)
    with_it = fit(counted(policies, left, right, voter, outcome), cap=cap)
    without = fit(counted(policies, left[:honest], right[:honest], voter[:honest], outcome[:honest]), cap=cap)
    return float(np.abs(with_it.rating - without.rating).max())


def newcomer(*, planned: bool, seed: int, established: int = 9, before: int = 2000, most: int = 400) -> Floats:
    """(most / 20 + 1,) the newcomer's half-width after every 20 votes on the board that it joins.

    `planned`: pairs as `rankings.fit.pairing` plans them, anew every 20 votes; else all alike.
    """
    rng = np.random.default_rng(seed)
    theta = truth(established + 1, rng)
    first = simulate(theta[:established], Scenario(votes=before), rng)
    columns = [_spread_out(first)]
    widths = []
    for _ in range(0, most + 1, 20):
        found = _fitted(established + 1, columns)
        widths.append(float(found.half_width[-1]))
        columns.append(_next_votes(theta, found, planned, rng))
    return np.array(widths)


def _next_votes(theta: Floats, found: Fit, planned: bool, rng: np.random.Generator) -> Votes:
    chances = plan(Belief(found.names, found.rating, found.posterior), found.names, 20, 0.2 if planned else 1.0)
    place = {name: number for number, name in enumerate(found.names)}
    pairs = np.array([(place[one], place[other]) for one, other in chances])
    drawn = pairs[rng.choice(len(pairs), 20, p=np.array(list(chances.values())))]
    return drawn[:, 0], drawn[:, 1], outcomes(theta[drawn[:, 0]] - theta[drawn[:, 1]], 0.35, rng)


def _spread_out(counts: Counts) -> Votes:
    row, outcome = np.nonzero(counts.outcomes)
    times = counts.outcomes[row, outcome]
    return np.repeat(counts.left[row], times), np.repeat(counts.right[row], times), np.repeat(outcome, times)


def spearman(*, policies: int, votes: int, repeats: int, seed: int, planned: bool = True) -> tuple[float, float]:
    """Mean rank correlation of ratings with the truth, and the half-width of that mean's 95 % interval.

    `planned`: as in `newcomer`, from the first vote on.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        theta = truth(policies, rng)
        empty = np.zeros(0, np.int64)
        columns = [(empty, empty, empty)]
        for _ in range(0, votes, 20):
            columns.append(_next_votes(theta, _fitted(policies, columns), planned, rng))
        ranks = [np.argsort(np.argsort(values)) for values in (theta, _fitted(policies, columns).rating)]
        found.append(float(np.corrcoef(ranks[0], ranks[1])[0, 1]))
    return float(np.mean(found)), float(1.96 * np.std(found) / np.sqrt(repeats))


def _fitted(policies: int, columns: list[Votes]) -> Fit:
    left, right, outcome = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return fit(counted(policies, left, right, np.full(len(left), UNKNOWN_VOTER), outcome))


def _voters(crowd: Crowd, votes: int, rng: np.random.Generator) -> Integers:
    if not crowd.voters:
        return np.zeros(votes, np.int64)
    activity = np.cumsum(rng.lognormal(0.0, 1.0, crowd.voters))
    found = np.searchsorted(activity / activity[-1], rng.random(votes)).astype(np.int64)
    heavy: Booleans = rng.random(votes) < crowd.heavy
    found[heavy] = 0
    return found
