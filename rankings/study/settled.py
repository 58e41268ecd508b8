"""A board that grows and is looked at every hour: how often is a pair ever called settled that is not?

Half of the contestants are the other half's twins, so that there are pairs which are truly equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankings.analysis.settled import ALIKE, ALPHA, decided
from rankings.fit.bradley_terry import Fit, fit
from rankings.fit.pairing import Belief, plan
from rankings.fit.ratings import CAP
from rankings.fit.student import Z
from rankings.study.form import Chapter, share, table
from rankings.study.voters import (
    TIES,
    Crowd,
    columns,
    counted,
    joined,
    opinions,
    outcomes,
    population,
    truth,
    unequal_chances,
)
from rankings.tally.arrays import Booleans, Floats, Integers
from rankings.tally.counts import Columns, Counts

HOURS_A_DAY = 24


class Growth(NamedTuple):
    """`contestants`, in twins; `hours` looks, `per_hour` votes before each. `uneven`: the logarithm of a pair's chance
    is normal with this spread. `planned`: pairs are drawn as `rankings.fit.pairing` plans them each hour, and with
    `leave_settled` settled pairs get their uniform share."""

    contestants: int = 8
    hours: int = 150
    per_hour: int = 30
    crowd: Crowd = Crowd()
    uneven: float = 0.0
    planned: bool = False
    leave_settled: bool = False


class GrowingArena:
    """Voters, their tastes and the true ratings of one arena."""

    def __init__(self, growth: Growth, seed: int) -> None:
        self.growth, self.rng = growth, np.random.default_rng(seed)
        self.theta = np.repeat(truth(growth.contestants // 2, self.rng), 2)
        crowd, size = growth.crowd, growth.contestants
        self.activity = unequal_chances(max(1, crowd.voters), 1.0, self.rng)
        self.opinions = opinions(self.theta, crowd, self.rng)
        self.pairs = np.stack(np.triu_indices(size, 1), axis=1)
        self.chances = unequal_chances(len(self.pairs), growth.uneven, self.rng)

    def votes(self, hour: int, chances: Floats) -> Columns:
        """One hour's. Without a crowd each vote is another voter's."""
        number, rng = self.growth.per_hour, self.rng
        pairs = self.pairs[rng.choice(len(self.pairs), number, p=chances)]
        swap = rng.random(number) < 0.5
        left, right = np.where(swap, pairs.T[::-1], pairs.T)
        voter = rng.choice(len(self.activity), number, p=self.activity)
        outcome = outcomes(self.opinions[voter, left] - self.opinions[voter, right], TIES, rng)
        if not self.growth.crowd.voters:
            voter = hour * number + np.arange(number)
        return columns(left, right, outcome, voter, np.full(number, hour // HOURS_A_DAY))

    def looks(self) -> Iterator[tuple[Counts, Fit]]:
        """All votes so far, and the board, after each hour."""
        cast, chances = self.votes(0, self.chances), self.chances
        for hour in range(1, self.growth.hours + 1):
            counts = counted(self.growth.contestants, cast)
            found = fit(counts, cap=CAP)
            yield counts, found
            if self.growth.planned:
                chances = self.planned(found)
            cast = joined(cast, self.votes(hour, chances))

    def planned(self, found: Fit) -> Floats:
        """(pairs,) chances as the arena plans them. Settled pairs that are left have the least chance that any pair
        has; the others' are raised in proportion."""
        names = found.names
        chances = plan(Belief(names, found.rating, found.posterior), names, self.growth.per_hour)
        planned = np.array([chances[names[i], names[j]] for i, j in self.pairs.tolist()])
        settled = np.logical_or(*decided(found))[tuple(self.pairs.T)] & self.growth.leave_settled
        least = planned.min()
        if settled.any() and not settled.all():
            planned[~settled] *= (1.0 - least * settled.sum()) / planned[~settled].sum()
            planned[settled] = least
        return planned


class Watched(NamedTuple):
    """What became of each pair (pairs,) over all looks. `gap`: the true difference [Elo points], at least 0.

    `at`: the hour at which it was first settled, -1 for never; `votes` and `own_votes`: those on the board and on the
    pair at that look. `wrong`: ever called better the other way round, or at all where the two are equal; `unequal`:
    ever called equal though more than `alike` apart; `naive`: as `wrong`, had the 95 % interval been asked each hour.
    `half_width`: (k,) of the ratings after the last look. `settled` (hours,): how many pairs are at each look.
    """

    gap: Floats
    at: Integers
    votes: Integers
    own_votes: Integers
    wrong: Booleans
    unequal: Booleans
    naive: Booleans
    half_width: Floats
    settled: Integers


def watch(growth: Growth, seed: int) -> Watched:
    arena = GrowingArena(growth, seed)
    one, other = arena.pairs.T
    true = population(arena.theta, growth.crowd.taste)
    gap = np.where(one // 2 == other // 2, 0.0, true[one] - true[other])
    size = len(one)
    at, votes, own_votes = np.full(size, -1), np.zeros(size, np.int64), np.zeros(size, np.int64)
    wrong, unequal, naive = (np.zeros(size, dtype=bool) for _ in range(3))
    settled = []
    for hour, (counts, found) in enumerate(arena.looks()):
        difference, deviation = found.rating[one] - found.rating[other], found.difference_sd[one, other]
        different, equal = (words[one, other] for words in decided(found))
        other_way = (gap == 0) | (difference * gap < 0)
        wrong |= different & other_way
        unequal |= equal & (np.abs(gap) > ALIKE)
        naive |= (np.abs(difference) > Z * deviation) & other_way
        new = (different | equal) & (at < 0)
        at[new], votes[new] = hour, counts.total
        met = counts.per_pair().sum(axis=2)
        own_votes[new] = (met + met.T)[one, other][new]
        settled.append(int((different | equal).sum()))
    return Watched(np.abs(gap), at, votes, own_votes, wrong, unequal, naive, found.half_width, np.array(settled))


MANY, FEW = Crowd(400, 100), Crowd(60, 100)
WATCHED = {
    "no tastes, pairs alike": Growth(),
    "400 voters with tastes, unequal pairs": Growth(crowd=MANY, uneven=1.0),
    "60 voters with tastes, unequal pairs": Growth(crowd=FEW, uneven=1.0),
    "400 voters with tastes, planned pairs": Growth(crowd=MANY, planned=True),
}
GAPS = ((0.0, 0.0), (0.0, 25.0), (25.0, 50.0), (50.0, 100.0), (100.0, 200.0), (200.0, np.inf))
LATER = Growth(crowd=MANY, hours=100, planned=True)

TEXT = """
## Settled pairs
Eight contestants, four of them with a twin that is truly equal; 30 votes an hour for 150 hours, and a look at the board
after each. Shares of pairs ever called settled although equal, or the wrong way round; wanted: at most {error:.0f} %.
The last column does the same with "the 95 % interval of the difference excludes 0". {repeats} arenas each.

{errors}

Pairs wrongly called as good as equal, within {alike:.0f} points: {unequal}. How soon a pair of "{usual}" is settled:

{times}

Planning could leave settled pairs only their uniform share (the same arenas, planned pairs, 400 voters, after 100
hours):

{plans}
"""


def chapter(repeats: int) -> Chapter:
    found = {name: _together([watch(growth, seed) for seed in range(repeats)]) for name, growth in WATCHED.items()}
    heads = ("arenas", "equal pairs: ever settled", "others: ever the other way round", "equal pairs by the interval")
    usual = list(WATCHED)[1]
    text = TEXT.format(
        error=100 * ALPHA,
        repeats=repeats,
        errors=table(heads, [_errors(name, each) for name, each in found.items()]),
        alike=ALIKE,
        unequal="; ".join(f"{name}: {_share(each.unequal, each.gap > ALIKE)}" for name, each in found.items()),
        usual=usual,
        times=table(
            ("true gap, points", "pairs", "settled after 4500 votes", "votes on the board (median)", "on the pair"),
            [row for span in GAPS if (row := _times(span, found[usual]))],
        ),
        plans=table(
            ("settled pairs", "settled of 28", "mean half-width, points", "settled of 28, mean over all looks"),
            _compared(repeats),
        ),
    )
    return Chapter(text)


def _together(watched: list[Watched]) -> Watched:
    """The pairs of all arenas in a row."""
    return Watched(*map(np.concatenate, zip(*watched, strict=True)))


def _errors(name: str, found: Watched) -> tuple[str, ...]:
    equal = found.gap == 0
    return name, _share(found.wrong, equal), _share(found.wrong, ~equal), _share(found.naive, equal)


def _times(span: tuple[float, float], found: Watched) -> tuple[object, ...] | None:
    low, high = span
    chosen = (found.gap >= low) & (found.gap < high) & (found.gap > 0) if high else found.gap == 0
    if not chosen.any():
        return None
    done = chosen & (found.at >= 0)
    name = "0" if not high else f"{low:.0f} to {high:.0f}" if np.isfinite(high) else f"from {low:.0f}"
    medians = [f"{np.median(votes[done]):.0f}" if done.any() else "–" for votes in (found.votes, found.own_votes)]
    return name, int(chosen.sum()), f"{100 * done.sum() / chosen.sum():.0f} %", *medians


def _compared(repeats: int) -> list[tuple[str, ...]]:
    """Both ways of planning, and what the second one changes in the same arena."""
    ways = {"as others": _arenas(LATER, repeats), "left alone": _arenas(LATER._replace(leave_settled=True), repeats)}
    ways["what leaving them alone changes"] = ways["left alone"] - ways["as others"]
    return [(name, *map(_mean, found)) for name, found in ways.items()]


def _arenas(growth: Growth, repeats: int) -> Floats:
    """(3, arenas) pairs settled after the last look, mean half-width, and pairs settled, averaged over all looks."""
    watched = [watch(growth, seed) for seed in range(repeats)]
    return np.array([[each.settled[-1], each.half_width.mean(), each.settled.mean()] for each in watched]).T


def _mean(values: Floats) -> str:
    """With its 95 % interval."""
    return f"{values.mean():.2f} ± {1.96 * values.std(ddof=min(1, len(values) - 1)) / np.sqrt(len(values)):.2f}"


def _share(hit: Booleans, among: Booleans) -> str:
    return share(int((hit & among).sum()), int(among.sum())) if among.any() else "no pair"
