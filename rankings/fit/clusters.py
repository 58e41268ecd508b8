"""Intervals of figures made of many people's votes, of which those of one person are correlated. No Django.

A figure is a function of sums over votes. Leaving out one voter at a time shows how far it varies (the cluster
jackknife: B. Efron, C. Stein, The jackknife estimate of variance, Ann. Stat. 9, 1981). It is on the safe side with few
voters, as CR3 is for regressions (A. C. Cameron, D. L. Miller, A practitioner's guide to cluster-robust inference,
J. Hum. Resour. 50, 2015). The quantile is Student's with one degree of freedom less than there are effective voters,
(sum n)² / sum n² for voters with n votes each (L. Kish, Survey Sampling, 1965): with one who casts half of all votes
and many who cast a few there are four.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from proportions import wilson
from rankings.fit.student import Z, quantile
from rankings.tally.arrays import Floats, Integers, Narrow, chunks, distinct, selection

Figure = Callable[[Floats], Floats]
"""(n, sums) -> (n,); nan where it is undefined."""


@dataclass(frozen=True)
class Clusters:
    """Sums over the votes of each voter. Voters whom nobody knows count as one person per vote."""

    sums: Floats
    """(m, sums)"""
    times: Floats
    """(m,) how many voters have these same sums."""

    @classmethod
    def of_cells(cls, voter: Narrow, cell: Narrow, cells: int) -> Clusters:
        """Of votes (rows,) that each fall into one of some cells: how many do. `voter` below 0: nobody knows who."""
        known = voter >= 0
        own = selection(known)
        (voters, place), mine = distinct(voter[own]), cell[own]
        sums = np.zeros(len(voters) * cells, np.int64)
        for rows in chunks(len(place)):
            np.add.at(sums, np.multiply(place[rows], cells, dtype=np.int64) + mine[rows], 1)
        sums, times = _alike(sums, cells)
        alone = np.bincount(cell[~known], minlength=cells)
        people: Floats = np.concatenate([times, alone]).astype(float)
        return cls(np.concatenate([sums.astype(float), np.eye(cells)])[people > 0], people[people > 0])

    @property
    def total(self) -> Floats:
        """(sums,)"""
        return self.times @ self.sums


def _alike(sums: Integers, cells: int) -> tuple[Integers, Integers]:
    """The different rows of sums (m * cells,), whole numbers from 0, and how often each occurs. They stay as they are
    where they are too large to be compared as one number."""
    rows, base = sums.reshape(-1, cells), int(sums.max(initial=0)) + 1
    if base**cells > 2**63:
        return rows, np.ones(len(rows), np.int64)
    digits = base ** np.arange(cells)
    different, times = np.unique(rows @ digits, return_counts=True)
    return different[:, None] // digits % base, times


class Spread(NamedTuple):
    """How far a figure varies: its standard deviation, and how many voters that is known from, less one."""

    sd: float
    freedom: float

    @property
    def half_width(self) -> float:
        """Of the 95 % interval; inf where a single voter decides whether there is a figure at all."""
        return float(quantile(np.array(self.freedom))) * self.sd


def jackknife(clusters: Clusters, figure: Figure, votes: Floats) -> Spread:
    """`votes` (sums,): a voter's sums times these are how many votes it has in the figure. One voter alone says
    nothing of others."""
    each = clusters.sums @ votes
    voters = float(clusters.times[each > 0].sum())
    if voters < 2:
        return Spread(math.inf, 1.0)
    moved = figure(clusters.total - clusters.sums[each > 0]) - figure(clusters.total[None, :])
    variance = (voters - 1.0) / voters * float(clusters.times[each > 0] @ moved**2)
    return Spread(math.inf if math.isnan(variance) else math.sqrt(variance), max(1.0, effective(clusters, votes) - 1.0))


def effective(clusters: Clusters, votes: Floats) -> float:
    """How many voters of equal activity tell as much, where all votes of a voter are equal; 0.0 without a vote."""
    each = clusters.sums @ votes
    squares = float(clusters.times @ each**2)
    return float(clusters.times @ each) ** 2 / squares if squares else 0.0


def score_interval(rate: float, number: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a proportion among so many cases, which need not be a whole number; (0, 1) of none."""
    return wilson(rate * number, number) if number > 0.0 else (0.0, 1.0)


def proportion(rate: float, spread: Spread, voters: float) -> tuple[float, float]:
    """95 % interval of a proportion among votes: Wilson's, among as many independent ones as would spread so far (E.
    Korn, B. Graubard, Confidence intervals for proportions with small expected number of positive counts, Survey
    Methodology 24, 1998). `voters`: effective ones, each of whom counts once where none differs from the others.
    """
    if math.isinf(spread.sd):
        return 0.0, 1.0
    alone = rate * (1.0 - rate) / spread.sd**2 if spread.sd else voters
    return score_interval(rate, alone * (Z / float(quantile(np.array(spread.freedom)))) ** 2)
