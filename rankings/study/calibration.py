"""Do the intervals of calibration hold?

Voters have tastes; how much each votes is lognormal; pairs are drawn unequally. What infinitely many such voters would
score on each pair is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankings.analysis.calibration import Folds, calibration, predict
from rankings.study.form import SEED, Chapter, percent, table
from rankings.study.voters import TIES, Crowd, active_voters, columns, counted, opinions, outcomes, scores, truth
from rankings.tally.arrays import Floats
from rankings.tally.counts import Counts


class PredictedBoard(NamedTuple):
    """`taste`: Elo points per contestant."""

    contestants: int
    votes: int
    voters: int
    taste: float


def simulate(theta: Floats, board: PredictedBoard, rng: np.random.Generator) -> Counts:
    size, votes = board.contestants, board.votes
    voter = active_voters(board.voters, votes, rng)
    drawn = np.cumsum(rng.lognormal(0.0, 0.7, size * size) * (1.0 - np.eye(size).ravel()))
    left, right = np.divmod(np.searchsorted(drawn / drawn[-1], rng.random(votes)).astype(np.int64), size)
    own = opinions(theta, Crowd(board.voters, board.taste), rng)
    return counted(size, columns(left, right, outcomes(own[voter, left] - own[voter, right], TIES, rng), voter))


class CalibrationCoverage(NamedTuple):
    """Shares of bins: whose interval holds what others would score, and whose interval of the gap holds 0; how many
    bins. `error` and `chance`: means of what is published."""

    actual: float
    gap: float
    bins: int
    error: float
    chance: float


def held(board: PredictedBoard, *, repeats: int, seed: int, cap: int = 15) -> CalibrationCoverage:
    inside, without_gap, errors = [], [], []
    for number in range(repeats):
        rng = np.random.default_rng([seed, number])
        theta = truth(board.contestants, rng)
        counts = simulate(theta, board, rng)
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
    folds = Folds.of(counts)
    predictions = predict(folds, cap)
    of_left = score[folds.counts.left, folds.counts.right]
    cast = predictions.votes
    true = np.where(predictions.swapped, 1.0 - of_left, of_left) * cast
    sums, votes = (np.bincount(predictions.bins, values) for values in (true, cast))
    return [float(own / number) for own, number in zip(sums, votes, strict=True) if number]


BOARDS = (
    PredictedBoard(10, 300, 60, 100),
    PredictedBoard(10, 1000, 100, 100),
    PredictedBoard(10, 4000, 300, 100),
    PredictedBoard(10, 4000, 300, 200),
    PredictedBoard(10, 4000, 60, 200),
    PredictedBoard(10, 20_000, 2000, 0),
    PredictedBoard(10, 20_000, 2000, 100),
    PredictedBoard(30, 20_000, 2000, 200),
)

TEXT = """
## Calibration
Voters have tastes and cast lognormally many votes each, pairs are drawn unequally. Held: in how many bins the
interval of the favourites' score holds the score that infinitely many voters would give on the same pairs. Gap: in
how many bins the interval of actual less predicted holds 0. Wanted: 93 to 97 %. Error: the published mean distance
between predicted and actual, and its published part due to chance. {repeats} arenas each.

{rows}
"""


def chapter(repeats: int) -> Chapter:
    heads = "contestants", "votes", "voters", "taste", "bins", "held", "gap", "error", "by chance"
    rows = []
    for board in BOARDS:
        actual, gap, bins, error, chance = held(board, repeats=repeats, seed=SEED)
        rows.append((*board, bins, percent(actual), percent(gap), f"{error:.4f}", f"{chance:.4f}"))
    return Chapter(TEXT.format(repeats=repeats, rows=table(heads, rows)))
