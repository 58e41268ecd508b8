"""Which contestants should meet next: the pairs whose votes make the ratings most precise. No Django.

A vote on the pair (i, j) adds w d d^T to the information, with d = e_i - e_j and w = p (1 - p) the information of one
comparison at win probability p. By the formula of Sherman and Morrison the covariance C then loses
w (C d)(C d)^T / (1 + w d^T C d), and the summed variance of the contestants' ratings about their mean shrinks by
w |P C d|² / (1 + w d^T C d) with P the centring (A-optimal design; F. Pukelsheim, Optimal Design of Experiments, 1993).

The best pair is taken again and again, each time as if its vote had been cast, for as many votes as are expected until
the next plan; how often a pair was taken is its chance. A share of all draws is uniform, so that nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankings.fit.bradley_terry import SCALE
from rankings.fit.posterior import sigmoid
from rankings.tally.arrays import Floats, Integers

UNIFORM = 0.2
"""Share of all draws in which every pair is equally likely."""


@dataclass(frozen=True)
class Belief:
    """What is known of the ratings: `rating` (k,) and their covariance (k, k), in Elo points and their squares."""

    names: tuple[str, ...]
    rating: Floats
    covariance: Floats


Pair = tuple[str, str]


def plan(belief: Belief, contestants: Sequence[str], votes: int, uniform: float = UNIFORM) -> dict[Pair, float]:
    """Chance of every pair of contestants, keyed by (smaller id, larger id), summing to 1; empty below two.

    `votes`: how many are expected until the next plan, at least one.
    """
    chosen = sorted(contestants)
    size = len(chosen)
    if size < 2:
        return {}
    index = {name: place for place, name in enumerate(belief.names)}
    places = np.array([index[name] for name in chosen])
    one, other = np.triu_indices(size, 1)
    taken = _greedy(belief.rating[places], belief.covariance[np.ix_(places, places)], one, other, max(1, votes))
    chances = (1.0 - uniform) * taken / taken.sum() + uniform / len(one)
    return {
        (chosen[i], chosen[j]): float(chance)
        for i, j, chance in zip(one.tolist(), other.tolist(), chances.tolist(), strict=True)
    }


def exposure(chances: dict[Pair, float]) -> dict[str, float]:
    """How often each contestant is drawn, in units of an equal share: 1 is average, 2 is twice as often."""
    found: dict[str, float] = {}
    for pair, chance in chances.items():
        for name in pair:
            found[name] = found.get(name, 0.0) + chance
    return {name: share * len(found) / 2.0 for name, share in sorted(found.items())}


def _greedy(rating: Floats, covariance: Floats, one: Integers, other: Integers, votes: int) -> Floats:
    """(pairs,) how often each pair is the best next one. Pairs of equal worth share a pick, so names decide nothing."""
    p = sigmoid((rating[one] - rating[other]) / SCALE)
    weight = p * (1.0 - p) / SCALE**2
    left = covariance.copy()
    taken = np.zeros(len(one))
    for _ in range(votes):
        worth = _drop(left, one, other, weight)
        best = np.flatnonzero(worth >= worth.max() * (1.0 - 1e-9))
        taken[best] += 1.0 / len(best)
        for pair in best:
            left = _after(left, int(one[pair]), int(other[pair]), float(weight[pair]) / len(best))
    return taken


def _drop(covariance: Floats, one: Integers, other: Integers, weight: Floats) -> Floats:
    """(pairs,) by how much one more vote on each pair shrinks the summed variance about the mean."""
    centred = covariance - covariance.mean(axis=0)  # P C
    gram = centred.T @ centred
    reach = gram[one, one] + gram[other, other] - 2.0 * gram[one, other]
    doubt = covariance[one, one] + covariance[other, other] - 2.0 * covariance[one, other]
    found: Floats = weight * reach / (1.0 + weight * doubt)
    return found


def _after(covariance: Floats, i: int, j: int, weight: float) -> Floats:
    """The covariance once `weight` of information about i minus j was added."""
    moved = covariance[:, i] - covariance[:, j]
    doubt = moved[i] - moved[j]
    found: Floats = covariance - weight / (1.0 + weight * doubt) * np.outer(moved, moved)
    return found
