"""What it buys to show several starts for one vote: simulated voters of clips that succeed by chance. No Django.

A policy reaches the goal from a start with the chance sigmoid(skill + ease of that start); both sides of a battle play
from the same starts. A voter names the side that reached the goal from more of them, neither where that is equal, and
with the chance `error` anything. Skills are normal with the study's spread, eases normal with `eases`. Everything
follows from a seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankings.fit.bradley_terry import fit
from rankings.fit.posterior import sigmoid
from rankings.study.voters import Votes, counted, truth
from rankings.tally.arrays import Floats, Integers
from rankings.tally.counts import UNKNOWN_VOTER

CHECKPOINTS = tuple(round(50 * 2 ** (step / 2)) for step in range(14))
"""After so many votes an order is compared with the truth."""
RESAMPLED = 400


@dataclass(frozen=True)
class Clips:
    """`starts` for each vote; `error`: the share of votes that look at nothing; `eases`: how starts differ [logits]."""

    starts: int = 1
    error: float = 0.1
    policies: int = 7
    eases: float = 1.0


@dataclass(frozen=True)
class Needed:
    """Votes until the mean rank correlation is as wanted, with a 95 % interval from resampled arenas; infinite where it
    was not reached."""

    votes: float
    low: float
    high: float


def goals(theta: Floats, left: Integers, right: Integers, clips: Clips, rng: np.random.Generator) -> Integers:
    """(2, votes) from how many starts each side reaches the goal."""
    ease = rng.normal(0.0, clips.eases, (clips.starts, len(left)))
    chances = sigmoid(np.stack([theta[left] + ease, theta[right] + ease]))
    found: Integers = (rng.random(chances.shape) < chances).sum(axis=1)
    return found


def votes_on(theta: Floats, number: int, clips: Clips, rng: np.random.Generator) -> Votes:
    """Pairs drawn alike, and what is voted on each."""
    left = rng.integers(0, len(theta), number)
    right = (left + rng.integers(1, len(theta), number)) % len(theta)
    reached = goals(theta, left, right, clips, rng)
    seen = np.where(reached[0] > reached[1], 0, np.where(reached[0] < reached[1], 1, 2))
    careless = rng.random(number) < clips.error
    return left, right, np.where(careless, rng.integers(0, 3, number), seen).astype(np.int64)


def orders(clips: Clips, *, repeats: int, seed: int, checkpoints: Sequence[int] = CHECKPOINTS) -> Floats:
    """(repeats, checkpoints) Spearman's correlation of the ratings with the skills, as votes come."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        theta = truth(clips.policies, rng)
        cast = votes_on(theta, checkpoints[-1], clips, rng)
        found.append([_order(theta, cast, number) for number in checkpoints])
    return np.array(found)


def needed(found: Floats, wanted: float, *, seed: int, checkpoints: Sequence[int] = CHECKPOINTS) -> Needed:
    """Of `orders`."""
    rng = np.random.default_rng(seed)
    again = [found[rng.integers(0, len(found), len(found))] for _ in range(RESAMPLED)]
    low, high = np.quantile(
        [_crossing(each.mean(axis=0), wanted, checkpoints) for each in again], [0.025, 0.975], method="inverted_cdf"
    )
    return Needed(_crossing(found.mean(axis=0), wanted, checkpoints), float(low), float(high))


def misled(clips: Clips, *, pairs: int, seed: int) -> float:
    """Of votes on what was seen that name a side, the share that name the less skilled one."""
    rng = np.random.default_rng(seed)
    theta = rng.permutation(truth(pairs, rng))
    left, right = np.arange(0, pairs - 1, 2), np.arange(1, pairs, 2)
    reached = goals(theta, left, right, clips, rng)
    decided = reached[0] != reached[1]
    wrong = (reached[0] > reached[1]) != (theta[left] > theta[right])
    return float(wrong[decided].mean())


def lucky(*, clips: Clips, number: int, seed: int) -> float:
    """Of single clips that reach the goal, the share whose policy does not reach it from any of the other starts."""
    rng = np.random.default_rng(seed)
    theta = truth(number, rng)
    ease = rng.normal(0.0, clips.eases, (clips.starts, number))
    reached = rng.random(ease.shape) < sigmoid(theta + ease)
    return float((reached[0] & ~reached[1:].any(axis=0)).sum() / reached[0].sum())


def _order(theta: Floats, cast: Votes, number: int) -> float:
    left, right, outcome = (each[:number] for each in cast)
    rating = fit(counted(len(theta), left, right, np.full(number, UNKNOWN_VOTER), outcome)).rating
    ranks = [np.argsort(np.argsort(values)) for values in (theta, rating)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _crossing(means: Floats, wanted: float, checkpoints: Sequence[int]) -> float:
    """Votes at which the means first are as wanted, on a straight line over the logarithm of votes."""
    above = np.nonzero(means >= wanted)[0]
    if not len(above):
        return float("inf")
    place = int(above[0])
    if place == 0:
        return float(checkpoints[0])
    before, after = np.log(checkpoints[place - 1]), np.log(checkpoints[place])
    part = (wanted - means[place - 1]) / (means[place] - means[place - 1])
    return float(np.exp(before + part * (after - before)))
