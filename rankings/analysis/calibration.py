"""Do the ratings predict votes that they have not seen? No Django.

The voters are split into FOLDS groups. Each group's votes, but those of the first TRAINING_FOLDS, are predicted by
ratings fitted to the groups before it, and the predictions are compared with what the group said: of the comparisons in
which the favourite was given 70 %, it should score 70 %. Voters, not votes, are split, since the votes of one voter are
correlated. No group is predicted from later ones: if each were from all others, a group's votes would decide into which
bins the votes of others fall, and no interval would hold (A. P. Dawid, Statistical theory: the prequential approach, J.
R. Stat. Soc. A 147, 1984).

Two intervals go with the votes of a bin, both by voters (fit.clusters). That of `actual` is for what votes on the
same pairs would score with other voters of the same kind. That of `gap`, actual less predicted, also knows that the
predictions have errors of their own, and that one voter's votes move both: to first order, leaving voter v out moves
the ratings by H^-1 g_v, as in rankings.trust.influence. docs/ranking-study.md says how often they hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from rankings.fit.bradley_terry import PRIOR, SCALE, Refits
from rankings.fit.clusters import Spread
from rankings.fit.estimate import Estimate
from rankings.fit.offsets import OFFSET_SD
from rankings.fit.posterior import sigmoid, votes_of_even
from rankings.tally.arrays import Booleans, Floats, Integers, Narrow, kept, narrowed, replaced
from rankings.tally.counts import UNKNOWN_VOTER, Counts

FOLDS = 10
VOTE_VARIANCE = 0.25
"""Variance of a vote between equals: with one more vote's doubt few that say the same are not sure of it."""
TRAINING_FOLDS = 4
"""So many groups only train."""
BINS = 10
"""Between 1/2 and 1."""


class Bin(TypedDict):
    """Votes for which the favourite was expected to score between `low` and `high`: how often on average it was
    expected to (`predicted`) and did (`actual`), each with a 95 % interval: of what it would score with other voters,
    and of the `gap`, which is actual less predicted. `voters`: as many of equal activity would tell as much."""

    low: float
    high: float
    votes: int
    voters: float
    predicted: float
    actual: float
    actual_low: float
    actual_high: float
    gap_low: float
    gap_high: float


class Calibration(TypedDict):
    """`error`: the mean distance of predicted and actual, weighed by votes; `chance`: what it would be on average if
    the votes were as predicted, since the distance of few votes from their mean is never 0. `brier`: mean squared error
    of the prediction, `brier_flat` that of always saying one half."""

    votes: int
    bins: list[Bin]
    error: float | None
    chance: float | None
    brier: float | None
    brier_flat: float | None


def calibration(counts: Counts, *, cap: int = 0) -> Calibration:
    """Empty where nobody is left to be predicted, with five voters or so (unknown ones count as one each)."""
    if not counts.total:
        return nothing()
    folds = Folds.of(counts)
    predictions = predict(folds, cap)
    total = int(predictions.cast.sum())
    if not total:  # nobody else voted on these pairs
        return nothing()
    slopes, errors = zip(*((_slopes(*own), own[1].errors()) for own in _by_bin(folds, predictions)), strict=True)
    bins, chance = _bins(folds, predictions, np.stack(slopes), cap)
    distances = sum(each["votes"] * abs(each["actual"] - each["predicted"]) for each in bins)
    brier, flat = np.sum(errors, axis=0) / total
    return {
        "votes": total,
        "bins": bins,
        "error": round(distances / total, 4),
        "chance": chance,
        "brier": round(float(brier), 4),
        "brier_flat": round(float(flat), 4),
    }


def nothing() -> Calibration:
    return {"votes": 0, "bins": [], "error": None, "chance": None, "brier": None, "brier_flat": None}


@dataclass(frozen=True)
class Folds:
    """Votes split into folds. Those of unknown voters stand apart by outcome: one row is so many people."""

    counts: Counts
    """Sides forgotten."""
    fold: Narrow
    """(rows,) 0 .. FOLDS - 1."""
    cluster: Narrow
    """(rows,) a number per known voter, and one per row of others."""
    times: Floats
    """(clusters,) how many people each is; 0 for numbers without a vote."""

    @classmethod
    def of(cls, counts: Counts) -> Folds:
        votes = counts.without_sides()
        is_known = kept(votes, "voter") >= 0
        known = votes if is_known.all() else votes.where(is_known)
        alone, fold = _one_by_one(votes.where(~is_known))
        voter = kept(known, "voter")
        voters = int(voter.max(initial=-1)) + 1
        cluster = narrowed(np.concatenate([voter, narrowed(voters + np.arange(len(fold)))]))
        times = np.concatenate([np.bincount(voter, minlength=voters) > 0, alone.votes])
        fold = np.concatenate([(voter % FOLDS).astype(np.int8), fold.astype(np.int8)])
        return cls(_joined(known, alone) if len(alone.votes) else known, fold, cluster, times.astype(float))

    def where(self, rows: Integers) -> Folds:
        """Only some rows, by their places; the clusters stay."""
        return Folds(self.counts.where(rows), self.fold[rows], self.cluster[rows], self.times)

    def by_cluster(self, values: Floats) -> Floats:
        """(clusters,) sums over the rows of each, per person."""
        return np.bincount(self.cluster, values, len(self.times)) / np.maximum(self.times, 1.0)


def _one_by_one(votes: Counts) -> tuple[Counts, Integers]:
    """Votes of unknown voters as rows of one outcome and one fold each, whatever their day, and (rows,) the folds."""
    size, settings = len(votes.names) ** 2, votes.settings
    kinds = votes.setting * size + votes.cell
    columns = kept(votes, "outcomes").T
    rows = np.stack([np.bincount(kinds, column, settings * size) for column in columns]).astype(np.int64)
    outcome, kind = np.nonzero(rows)
    number = rows[outcome, kind]
    share = (number[:, None] + np.arange(FOLDS)) // FOLDS  # (kinds, FOLDS), summing to number
    at, place = np.nonzero(share)
    cast = np.zeros((len(at), rows.shape[0]), np.int64)
    cast[np.arange(len(at)), outcome[at]] = share[at, place]
    setting, cell = np.divmod(kind[at], size)
    left, right = np.divmod(cell, len(votes.names))
    nobody, no_day = np.full(len(at), UNKNOWN_VOTER), np.zeros(len(at), np.int64)
    found = replaced(votes, left=left, right=right, voter=nobody, outcomes=cast, setting=setting, day=no_day)
    return found, (place + at) % FOLDS


def _joined(one: Counts, other: Counts) -> Counts:
    """The rows of both."""
    names = ("left", "right", "voter", "outcomes", "setting", "day")
    columns: dict[str, Any] = {name: np.concatenate([kept(each, name) for each in (one, other)]) for name in names}
    return replaced(one, **columns)


@dataclass(frozen=True)
class Predictions:
    """Of each row of votes (rows,): what the favourite was expected to score, whether that is the right side, and how
    many votes were predicted: none where no rating does."""

    counts: Counts
    """Sides forgotten."""
    expected: Floats
    swapped: Booleans
    known: Booleans

    @property
    def cast(self) -> Integers:
        return self.counts.votes * self.known

    @property
    def votes(self) -> Floats:
        return self.cast.astype(float)

    @property
    def bins(self) -> Narrow:
        """(rows,) 0 .. BINS - 1."""
        found = self.expected - 0.5
        found *= 2 * BINS
        return np.clip(found.astype(np.int8), 0, BINS - 1)

    @property
    def wins(self) -> Floats:
        """(rows,) votes for the favourite."""
        outcomes = kept(self.counts, "outcomes")
        found: Floats = np.where(self.swapped, outcomes[:, 1], outcomes[:, 0]) * self.known.astype(float)
        return found

    @property
    def even(self) -> Floats:
        return votes_of_even(self.counts) * self.known

    @property
    def score(self) -> Floats:
        """(rows,) the sum of what the favourite scored."""
        return self.wins + 0.5 * self.even

    def where(self, rows: Integers) -> Predictions:
        return Predictions(self.counts.where(rows), self.expected[rows], self.swapped[rows], self.known[rows])

    def errors(self) -> tuple[float, float]:
        """Sums over the votes of the squared errors of the predictions, and of always saying one half."""
        expected, score, votes = self.expected, self.score, self.votes
        squares = self.wins + 0.25 * self.even
        own = squares - 2 * expected * score + expected**2 * votes
        return float(own.sum()), float((squares - score + 0.25 * votes).sum())


def predict(folds: Folds, cap: int) -> Predictions:
    """Each fold by ratings fitted to those before it; the first ones have no votes in it."""
    counts = folds.counts
    refits, size = Refits.of(counts, cap=cap), len(folds.fold)
    expected, swapped, known = np.full(size, 0.5), np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    for fold in range(TRAINING_FOLDS, FOLDS):
        rows = folds.fold == fold
        rating, group = refits.without(np.flatnonzero(folds.fold >= fold))
        left, right = kept(counts, "left")[rows], kept(counts, "right")[rows]
        margin, known[rows] = (rating[left] - rating[right]) / SCALE, group[left] == group[right]
        expected[rows], swapped[rows] = sigmoid(np.abs(margin)), margin < 0
    return Predictions(counts, expected, swapped, known)


def _by_bin(folds: Folds, predictions: Predictions) -> Iterator[tuple[Folds, Predictions]]:
    """The rows of each bin alone, a tenth of all, so that what is computed of them takes little memory."""
    place = predictions.bins
    for number in range(BINS):
        rows = np.flatnonzero((place == number) & predictions.known)
        yield folds.where(rows), predictions.where(rows)


def _bins(folds: Folds, predictions: Predictions, slopes: Floats, cap: int) -> tuple[list[Bin], float | None]:
    """And the mean distance that chance alone makes, in bins of two voters and more; None without any. `slopes`
    (BINS, FOLDS, k): of each bin's mean prediction."""
    moved = _Influence.of(folds, cap).of_predictions(slopes)
    found: list[Bin] = []
    noise, weights = [0.0], [0.0]
    for number, (rows, own) in enumerate(_by_bin(folds, predictions)):
        if n := float(own.cast.sum()):
            predicted = float(own.expected @ own.votes) / n
            actual = float(own.score.sum()) / n
            spread, gap = _spreads(rows, own, actual - predicted, moved[number])
            if math.isfinite(gap.sd):
                noise.append(n * math.sqrt(2 / math.pi) * gap.sd)
                weights.append(n)
            found.append(_bin(number, int(n), predicted, actual, spread, gap))
    return found, round(sum(noise) / sum(weights), 4) if any(weights) else None


def _bin(number: int, votes: int, predicted: float, actual: float, own: Spread, gap: Spread) -> Bin:
    low = 0.5 + number / (2 * BINS)
    between = actual - predicted
    return {
        "low": round(low, 3),
        "high": round(low + 1 / (2 * BINS), 3),
        "votes": votes,
        "voters": round(own.freedom + 1.0, 1),
        "predicted": round(predicted, 4),
        "actual": round(actual, 4),
        "actual_low": round(max(0.0, actual - own.half_width), 4),
        "actual_high": round(min(1.0, actual + own.half_width), 4),
        "gap_low": round(max(-1.0, between - gap.half_width), 4),
        "gap_high": round(min(1.0, between + gap.half_width), 4),
    }


@dataclass(frozen=True)
class _Influence:
    """How far each cluster moves the ratings that predict the votes of later folds."""

    ratings: Estimate
    """Of the votes of each cluster as one voter's, in natural units."""
    times: Floats
    """(clusters,)"""
    fold: Narrow
    """(clusters,)"""
    training: Floats
    """(FOLDS,) the share of the votes that a fold is predicted from."""

    @classmethod
    def of(cls, folds: Folds, cap: int) -> _Influence:
        counts, size = folds.counts, len(folds.times)
        apart = replaced(counts, voter=folds.cluster)
        found = Estimate.weighed(apart, counts.weights(cap), prior=PRIOR, ties="half", offset_sd=OFFSET_SD / SCALE)
        fold = np.zeros(size, folds.fold.dtype)
        fold[folds.cluster] = folds.fold
        votes = sum(np.bincount(folds.fold[rows], some.votes, FOLDS) for rows, some in counts.chunks())
        shares = np.asarray(votes) / counts.total
        return cls(found, folds.times, fold, np.maximum(np.cumsum(shares) - shares, 1e-9))

    def of_predictions(self, slopes: Floats) -> Floats:
        """(m, clusters) what a person of each moves m means of predictions. `slopes` (m, FOLDS, k): by the ratings for
        each fold."""
        found = np.zeros((len(slopes), len(self.times)))
        by_rating = (slopes / self.training[:, None]).reshape(-1, slopes.shape[-1]).T
        for clusters, moved in self.ratings.influence_by_turns():
            each = (moved / np.maximum(self.times[clusters], 1.0)[:, None]) @ by_rating
            later = np.arange(FOLDS) > self.fold[clusters][:, None]
            found[:, clusters] = np.sum(each.reshape(len(moved), -1, FOLDS) * later[:, None, :], axis=2).T
        return found


def _slopes(folds: Folds, predictions: Predictions) -> Floats:
    """(FOLDS, k) how the mean of the predictions depends on the ratings for each fold."""
    votes, expected = predictions.votes, predictions.expected
    slope = votes * expected * (1.0 - expected) * np.where(predictions.swapped, -1.0, 1.0)
    slope /= max(float(votes.sum()), 1.0)
    size = len(folds.counts.names)
    first = folds.fold * np.int64(size)
    slopes: Floats = np.bincount(first + kept(folds.counts, "left"), slope, FOLDS * size).astype(float)
    slopes -= np.bincount(first + kept(folds.counts, "right"), slope, FOLDS * size)
    return slopes.reshape(FOLDS, size)


def _spreads(folds: Folds, predictions: Predictions, gap: float, moved: Floats) -> tuple[Spread, Spread]:
    """Of actual, and of actual less predicted, in one bin. `moved` (clusters,): how far a person of each moves the mean
    of its predictions."""
    votes = predictions.votes
    n, cast = votes.sum(), folds.by_cluster(votes)
    residual = predictions.score - predictions.expected * votes
    own = (folds.by_cluster(residual) - gap * cast) / np.maximum(n - cast, 0.5)
    freedom = max(1.0, float(n**2 / (folds.times @ cast**2)) - 1.0)
    return _spread(own, folds.times, cast, freedom), _spread(own - moved, folds.times, cast, freedom)


def _spread(moved: Floats, times: Floats, cast: Floats, freedom: float) -> Spread:
    """From what leaving each person out would move."""
    voters = float(times[cast > 0].sum())
    if voters < 2:
        return Spread(math.inf, 1.0)
    doubt = VOTE_VARIANCE / float(times @ cast) ** 2
    return Spread(math.sqrt((voters - 1.0) / voters * float(times @ moved**2) + doubt), freedom)
