"""The mean that is 1500: of the contestants that votes connect, each weighted by its votes up to FULL. No Django.

Ratings and intervals are about the same mean. It is the plain mean where every contestant has FULL votes. A newcomer
with few counts little, so that neither the ratings of the others nor their intervals jump with its first votes; and
votes on a contestant that has FULL move the mean no more."""

from __future__ import annotations

import numpy as np

from rankings.tally.arrays import Booleans, Floats, Integers

FULL = 300.0
"""Votes, by what they weigh, from which on a contestant counts fully."""


def shares(votes: Floats, comparable: Booleans) -> Floats:
    """(k, k) row i: how much each contestant counts in the mean that i is relative to; a row sums to 1, or to 0 where
    no contestant has a vote. `votes` (k,): what each contestant's weigh together."""
    counted = np.where(comparable, np.minimum(votes, FULL)[None, :], 0.0)
    found: Floats = counted / np.maximum(counted.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return found


def centred(theta: Floats, mean: Floats) -> Floats:
    """(k,) theta less its mean by `shares`."""
    return theta - mean @ theta


def centred_each(theta: Floats, votes: Floats, comparable: Booleans) -> Floats:
    """(n, k) the same of n boards at once, each with its own votes (n, k)."""
    counted = np.minimum(np.maximum(votes, 0.0), FULL)
    together = comparable.astype(float)
    sums = np.maximum(counted @ together, np.finfo(float).tiny)
    found: Floats = theta - (counted * theta) @ together / sums
    return found


def variance_of_centred(covariance: Floats, mean: Floats) -> Floats:
    """(k,) variance of what `centred` gives."""
    if not len(mean):
        return np.zeros(0)
    first, place = _different(mean)
    means = mean[first] @ covariance
    of_means = np.sum(means * mean[first], axis=1)
    own = means[place, np.arange(len(place))]
    found: Floats = np.maximum(np.diag(covariance) - 2.0 * own + of_means[place], 0.0)
    return found


def _different(mean: Floats) -> tuple[Integers, Integers]:
    """A row of each group, and (k,) the place of each row's group among them. Rows of a group are equal."""
    counted = mean > 0
    label = np.where(counted.any(axis=1), counted.argmax(axis=1), len(mean))
    _, first, place = np.unique(label, return_index=True, return_inverse=True)
    return first, place
