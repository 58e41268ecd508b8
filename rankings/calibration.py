"""Do the ratings foresee votes that they have not seen? No Django.

The voters are dealt into FOLDS groups. Each group's votes are predicted by ratings fitted to all the others, and the
predictions are compared with what the group said: of the comparisons in which the favourite was given 70 %, it should
score 70 %. Voters, not votes, are dealt, since the votes of one voter hang together.
"""

from __future__ import annotations

import math
from typing import TypedDict

import numpy as np

from rankings.bradley_terry import SCALE, Refits
from rankings.counts import Counts, Floats, Integers
from rankings.posterior import sigmoid

FOLDS = 10
BINS = 10
"""Between 1/2 and 1."""
Z = 1.959963984540054


class Bin(TypedDict):
    """Votes for which the favourite was expected to score between `low` and `high`: how often on average it was
    expected to (`predicted`) and did (`actual`), with the 95 % interval of what it did."""

    low: float
    high: float
    votes: int
    predicted: float
    actual: float
    actual_low: float
    actual_high: float


class Calibration(TypedDict):
    """`error`: the mean distance of predicted and actual, weighed by votes. `brier`: mean squared error of the
    prediction, `brier_flat` that of always saying one half."""

    votes: int
    bins: list[Bin]
    error: float | None
    brier: float | None
    brier_flat: float | None


def calibration(counts: Counts, *, cap: int = 0) -> Calibration:
    """Empty with fewer than two voters (unknown ones count as one each), or without votes."""
    group = _groups(counts)
    kinds = np.unique(group)
    if len(kinds) < 2:
        return nothing()
    refits = Refits.of(counts, cap=cap)
    parts = [_predicted(*refits.without(group == kind), counts.where(group == kind)) for kind in kinds]
    expected, score, squares, votes = (np.concatenate(column) for column in zip(*parts, strict=True))
    total = float(votes.sum())
    if not total:  # nobody else voted on these pairs
        return nothing()
    bins = _bins(expected, score, squares, votes)
    brier = float((squares - 2 * expected * score + expected**2 * votes).sum()) / total
    flat = float((squares - score + 0.25 * votes).sum()) / total
    return {
        "votes": int(total),
        "bins": bins,
        "error": round(sum(each["votes"] * abs(each["actual"] - each["predicted"]) for each in bins) / total, 4),
        "brier": round(brier, 4),
        "brier_flat": round(flat, 4),
    }


def nothing() -> Calibration:
    return {"votes": 0, "bins": [], "error": None, "brier": None, "brier_flat": None}


def _groups(counts: Counts) -> np.ndarray:
    """(rows,) 0 .. FOLDS - 1: by voter; rows of unknown voters one by one."""
    known = counts.voter >= 0
    return np.where(known, counts.voter, np.arange(len(counts.voter))) % FOLDS


def _predicted(rating: Floats, group: Integers, held_out: Counts) -> tuple[Floats, Floats, Floats, Floats]:
    """(rows,) of the held-out votes: what the favourite should score, the sums of what it scored and of its square, and
    how many votes; pairs between groups that the ratings cannot compare are left out."""
    rows = held_out.where(group[held_out.left] == group[held_out.right])
    expected = sigmoid((rating[rows.left] - rating[rows.right]) / SCALE)
    swap = expected < 0.5
    wins = np.where(swap, rows.outcomes[:, 1], rows.outcomes[:, 0]).astype(float)
    even = (rows.outcomes[:, 2] + rows.outcomes[:, 3]).astype(float)
    return np.where(swap, 1.0 - expected, expected), wins + 0.5 * even, wins + 0.25 * even, rows.votes.astype(float)


def _bins(expected: Floats, score: Floats, squares: Floats, votes: Floats) -> list[Bin]:
    place = np.clip(((expected - 0.5) * 2 * BINS).astype(int), 0, BINS - 1)
    found: list[Bin] = []
    for number in range(BINS):
        own = place == number
        n = float(votes[own].sum())
        if not n:
            continue
        predicted, actual = float((expected * votes)[own].sum()) / n, float(score[own].sum()) / n
        # As in the sandwich, ties make a score vary less than a coin; one more vote's doubt keeps few from being sure.
        variance = (max(0.0, float(squares[own].sum()) - n * actual**2) + 0.25) / n
        half_width = Z * math.sqrt(variance / n)
        low = 0.5 + number / (2 * BINS)
        found.append(
            {
                "low": round(low, 3),
                "high": round(low + 1 / (2 * BINS), 3),
                "votes": int(n),
                "predicted": round(predicted, 4),
                "actual": round(actual, 4),
                "actual_low": round(max(0.0, actual - half_width), 4),
                "actual_high": round(min(1.0, actual + half_width), 4),
            }
        )
    return found
