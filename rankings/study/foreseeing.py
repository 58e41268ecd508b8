"""Simulated voters whose votes are foretold: do the intervals of calibration hold? Follows from a seed. No Django.

Voters have tastes; how much each votes is lognormal; pairs are drawn unequally. What infinitely many such voters would
score on each pair is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankings.analysis.calibration import Dealt, calibration, foretell
from rankings.study.voters import Crowd, counted, margins, outcomes, scores, truth
from rankings.tally.arrays import Floats
from rankings.tally.counts import Counts

TIES = 0.35


class ForetoldBoard(NamedTuple):
    """`taste`: Elo points per policy."""

    policies: int
    votes: int
    voters: int
    taste: float


def voted(theta: Floats, board: ForetoldBoard, rng: np.random.Generator) -> Counts:
    size, votes = board.policies, board.votes
    activity = np.cumsum(rng.lognormal(0.0, 1.0, board.voters))
    voter = np.searchsorted(activity / activity[-1], rng.random(votes)).astype(np.int64)
    drawn = np.cumsum(rng.lognormal(0.0, 0.7, size * size) * (1.0 - np.eye(size).ravel()))
    pair = np.searchsorted(drawn / drawn[-1], rng.random(votes)).astype(np.int64)
    left, right = np.divmod(pair, size)
    margin = margins(theta, left, right, voter, Crowd(board.voters, board.taste), rng)
    return counted(size, left, right, voter, outcomes(margin, TIES, rng))


class CalibrationCoverage(NamedTuple):
    """Shares of bins: whose interval holds what others would score, and whose interval of the gap holds 0; how many
    bins. `error` and `chance`: means of what is published."""

    actual: float
    gap: float
    bins: int
    error: float
    chance: float


def held(board: ForetoldBoard, *, repeats: int, seed: int, cap: int = 15) -> CalibrationCoverage:
    inside, without_gap, errors = [], [], []
    for number in range(repeats):
        rng = np.random.default_rng([seed, number])
        theta = truth(board.policies, rng)
        counts = voted(theta, board, rng)
        found = calibration(counts, cap=cap)
        for each, true in zip(found["bins"], _true(counts, scores(theta, board.taste), cap), strict=True):
            inside.append(each["actual_low"] <= true <= each["actual_high"])
            without_gap.append(each["gap_low"] <= 0.0 <= each["gap_high"])
        errors.append((found["error"], found["chance"]))
    error, chance = np.nanmean(np.array(errors, dtype=float), axis=0)
    return CalibrationCoverage(
        float(np.mean(inside)), float(np.mean(without_gap)), len(inside), float(error), float(chance)
    )


def _true(counts: Counts, score: Floats, cap: int) -> list[float]:
    """What others would score on the pairs of each bin that has votes."""
    dealt = Dealt.of(counts)
    foretold = foretell(dealt, cap)
    of_left = score[dealt.counts.left, dealt.counts.right]
    true = np.where(foretold.swapped, 1.0 - of_left, of_left) * foretold.votes
    sums, votes = (np.bincount(foretold.bins, values) for values in (true, foretold.votes))
    return [float(own / number) for own, number in zip(sums, votes, strict=True) if number]
