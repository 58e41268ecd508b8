"""Outcome counts: all that Bradley-Terry needs to know about the votes. Numbers in, numbers out, no Django."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankings.tally.arrays import (
    Booleans,
    Column,
    Floats,
    Integers,
    Narrow,
    are_sorted,
    begins_run,
    chunks,
    distinct,
    is_sorted,
    kept,
    narrowed,
    replaced,
    selection,
    starts_of_runs,
    taken,
)
from rankings.tally.visits import NO_VISITS, Visits

OUTCOMES = ("left_better", "right_better", "tie", "both_bad")
MIRRORED = [1, 0, 2, 3]
"""Columns of the outcomes as the other side sees them."""
UNKNOWN_VOTER = -1
KEY_BITS = 61
"""Of 63, with two left for the outcome."""
FEW_KEYS_BITS = 16
"""So few bits make so few keys that each has a place in a table of 2 MB."""


class Ballot(NamedTuple):
    """One vote as the ranking sees it. `outcome`: one of OUTCOMES; `voter`: None where it is unknown; `day`: any text
    that the votes of one day share, since votes per voter and day are capped."""

    left: str
    right: str
    outcome: str
    voter: str | None = None
    setting: str = ""
    day: str = ""


class Columns(NamedTuple):
    """Rows of votes as numbers, all (rows,) and of any type, in any order, with repetitions.

    `outcomes`: (rows, 4) how many votes of each outcome a row stands for, or (rows,) the outcome of its single vote.
    """

    left: Narrow
    right: Narrow
    voter: Narrow
    setting: Narrow
    day: Narrow
    outcomes: Narrow


@dataclass(frozen=True)
class Counts:
    """Rows sorted by setting, voter, day, pair and side order. Equal ones may stand apart, since sums over voters and
    pairs are all that counts."""

    names: tuple[str, ...]
    """Every policy, sorted, those without a vote included."""
    left: Column = Column()
    """(rows,) index into `names`."""
    right: Column = Column()
    """(rows,) index into `names`."""
    voter: Column = Column()
    """(rows,) a number per voter from 0, or UNKNOWN_VOTER: such votes count as cast by different people."""
    outcomes: Column = Column()
    """(rows, 4) votes per outcome, columns as in OUTCOMES."""
    setting: Column = Column()
    """(rows,) a number per setting from 0."""
    day: Column = Column()
    """(rows,) a number per day from 0."""
    visits: Visits = NO_VISITS
    """Where voters came from, and how far they are trusted, by the numbers of voters and days."""

    @classmethod
    def of(cls, names: Sequence[str], columns: Columns, visits: Visits = NO_VISITS) -> Counts:
        """Rows that are sorted are taken as they lie, without a copy; of others, equal ones are summed. `names` must be
        sorted; the columns' numbers for policies are places in it."""
        left, right, voter, setting, day, outcomes = columns
        low, high = np.minimum(left, right), np.maximum(left, right)
        if outcomes.ndim == 2 and are_sorted(setting, voter, day, low, high, left > right):
            return cls(tuple(names), left, right, voter, outcomes, setting, day, visits)
        key, widths = _packed([setting, np.add(voter, 1, dtype=np.int64), day, low, high, left > right])
        if outcomes.ndim == 2:
            key, outcomes = _summed(key, outcomes)
        elif sum(widths) <= FEW_KEYS_BITS:
            key, outcomes = _counted_at_once(key, outcomes)
        else:
            key, outcomes = _counted(key, outcomes)
        setting, voter, day, low, high, swapped = _unpacked(key, widths)
        left, right = np.where(swapped, high, low), np.where(swapped, low, high)
        return cls(tuple(names), left, right, np.subtract(voter, 1, dtype=voter.dtype), outcomes, setting, day, visits)

    @property
    def total(self) -> int:
        return int(kept(self, "outcomes").sum())

    @property
    def by_outcome(self) -> Integers:
        """(4,) all votes of each outcome."""
        found: Integers = kept(self, "outcomes").sum(axis=0, dtype=np.int64)
        return found

    @property
    def votes(self) -> Integers:
        """(rows,) of all outcomes together."""
        left, right, tie, both_bad = kept(self, "outcomes").T
        found: Integers = np.add(left, right, dtype=np.int64)  # quicker than sum(axis=1)
        found += tie
        found += both_bad
        return found

    @property
    def cell(self) -> Integers:
        """(rows,) the pair's place in a flattened matrix (names, names), the left policy's row first."""
        found = self.left
        found *= len(self.names)
        found += kept(self, "right")
        return found

    @property
    def scores(self) -> Floats:
        """(rows,) the sum of the left side's scores, which does not depend on the order of the votes."""
        left, _, tie, both_bad = kept(self, "outcomes").T
        found: Floats = np.add(tie, both_bad, dtype=np.float64)
        found *= 0.5
        found += left
        return found

    def chunks(self) -> Iterator[tuple[slice, Counts]]:
        """A part of the rows after the other, where they lie, and the counts of each part."""
        return ((rows, self.where(rows)) for rows in chunks(len(kept(self, "left"))))

    @property
    def settings(self) -> int:
        """How many settings have a number; some may have no vote."""
        return int(kept(self, "setting").max(initial=0)) + 1

    @property
    def voters(self) -> int:
        """How many known voters have a vote."""
        voter = kept(self, "voter")
        found = np.zeros(int(voter.max(initial=0)) + 2, dtype=bool)  # the last place is for unknown ones
        for rows in chunks(len(voter)):
            found[voter[rows]] = True
        return int(np.count_nonzero(found[:-1]))

    def without_sides(self) -> Counts:
        """The same rows with the policy of the smaller index on the left: who stood where no longer matters."""
        if "_sideless" not in vars(self) and (kept(self, "left") < kept(self, "right")).all():
            return self
        return self._sideless

    def visited(self, visits: Visits) -> Counts:
        """The same votes, of voters who came from elsewhere or are trusted otherwise."""
        found, sideless = (replaced(each, visits=visits) for each in (self, self._sideless))
        vars(sideless)["_weights"] = found._weights
        vars(found)["_sideless"] = sideless
        return found

    @cached_property
    def _sideless(self) -> Counts:
        left, right, outcomes = kept(self, "left"), kept(self, "right"), kept(self, "outcomes").T
        swap, low, high = left > right, np.minimum(left, right), np.maximum(left, right)
        seen_from_low = np.stack([*(np.where(swap, outcomes[1 - at], outcomes[at]) for at in (0, 1)), *outcomes[2:]])
        found = replaced(self, left=low, right=high, outcomes=seen_from_low.T)
        vars(found)["_weights"] = self._weights
        return found

    def apart(self) -> Counts:
        """A contestant in each setting as one of its own: names and numbers repeat, setting by setting."""
        if self.settings == 1:
            return self
        shift = self.setting * len(self.names)
        return replaced(self, names=self.names * self.settings, left=self.left + shift, right=self.right + shift)

    def by_network(self) -> Counts | None:
        """The same votes as if those from one network were one voter's; None where no two voters share a network."""
        if not (kept(self.visits, "network") >= 0).any():
            return None
        voter, network = self.voter, self.visits.networks(self.voter, self.day)
        if not (network >= 0).any():
            return None
        together = np.where(network >= 0, np.add(network, int(voter.max()) + 1, dtype=np.int64), voter)
        known = np.unique(together[together >= 0])
        numbers = np.where(together >= 0, np.searchsorted(known, together), UNKNOWN_VOTER)
        return replaced(self, voter=numbers, visits=NO_VISITS)

    def where(self, rows: NDArray[Any] | slice) -> Counts:
        """Only some rows, by a mask, by their places, or in a row; the names stay."""
        names = ("left", "right", "voter", "outcomes", "setting", "day")
        return replaced(self, **{name: kept(self, name)[rows] for name in names})

    def per_policy(self) -> Integers:
        """(names, 4): wins, losses, ties and both_bad of each policy, from either side."""
        pairs = self.per_pair()
        found: Integers = pairs.sum(axis=1) + pairs.sum(axis=0)[:, MIRRORED]
        return found

    def per_pair(self) -> Integers:
        """(names, names, 4): votes of each outcome; the left policy's row, the right one's column."""
        return self._per_pair

    @cached_property
    def _per_pair(self) -> Integers:
        size, found = len(self.names), np.zeros((len(OUTCOMES), len(self.names) ** 2))
        for _, some in self.chunks():
            cell = some.cell
            found += [np.bincount(cell, column, size * size) for column in kept(some, "outcomes").T]
        return found.T.reshape(size, size, len(OUTCOMES)).astype(np.int64)

    def opponents(self) -> Integers:
        """(names,) how many different policies each has met."""
        met = self.per_pair().sum(axis=2) > 0
        found: Integers = (met | met.T).sum(axis=1)
        return found

    def weights(self, cap: int) -> Floats:
        """(rows,) what a vote of the row weighs.

        `cap`: at most so much a voter's votes of one day together, and a network's voters' as well; 0: no limit. Then
        each by its voter's trust.
        """
        if cap not in self._weights:
            self._weights[cap] = self._weighed(cap)
        return self._weights[cap]

    @cached_property
    def _weights(self) -> dict[int, Floats]:
        """By cap. The same votes with their sides forgotten share them."""
        return {}

    def _weighed(self, cap: int) -> Floats:
        known = kept(self, "voter") >= 0
        if not known.any() or not (cap or len(self.visits)):
            return np.ones(len(known))
        rows = selection(known)
        visit, place = distinct(self._visits_by(self.visits.days if len(self.visits) else self._days)[rows])
        visit = narrowed(visit)
        cast = self._cast_at(place, len(visit), rows)
        if len(self.visits):
            factors = self.visits.factors(visit, cast, cap)
        else:
            factors = np.minimum(1.0, cap / np.maximum(cast, 1.0))
        if known.all():
            return taken(factors, place)
        found = np.ones(len(known))
        found[rows] = factors[place]
        return found

    def _cast_at(self, place: Narrow, size: int, rows: Booleans | slice) -> Narrow:
        """(size,) the votes at each place, of some rows, which are at `place` (n,)."""
        found, votes = np.zeros(size, np.int64), narrowed(self.votes)[rows]
        for some in chunks(len(place)):
            np.add.at(found, place[some], votes[some].astype(np.int64))
        return narrowed(found)

    @property
    def _days(self) -> int:
        return int(kept(self, "day").max(initial=0)) + 1

    def _visits_by(self, days: int) -> Integers:
        """(rows,) a number per voter and day, by which rows are sorted where there is one setting."""
        found = self.voter
        found *= days
        found += kept(self, "day")
        return found


def tally(ballots: Iterable[Ballot], names: Iterable[str] = ()) -> Counts:
    """Count votes. `names` adds policies that may have none. ValueError for an unknown outcome or a self-match."""
    votes = Counter(ballots)
    for ballot in votes:
        if ballot.outcome not in OUTCOMES:
            raise ValueError(f"unknown outcome {ballot.outcome!r}; known: {', '.join(OUTCOMES)}")
        if ballot.left == ballot.right:
            raise ValueError(f"{ballot.left!r} against itself; a battle needs two different policies")
    places = _numbers({*names, *(b.left for b in votes), *(b.right for b in votes)})
    settings, days = _numbers(b.setting for b in votes), _numbers(b.day for b in votes)
    voters = _numbers(b.voter for b in votes if b.voter is not None)
    cells = np.array(
        [
            (
                places[b.left],
                places[b.right],
                UNKNOWN_VOTER if b.voter is None else voters[b.voter],
                settings[b.setting],
                days[b.day],
                OUTCOMES.index(b.outcome),
                n,
            )
            for b, n in votes.items()
        ],
        dtype=np.int64,
    ).reshape(-1, 7)
    left, right, voter, setting, day, outcome, number = cells.T
    outcomes = np.eye(len(OUTCOMES), dtype=np.int64)[outcome] * number[:, None]
    return Counts.of(list(places), Columns(left, right, voter, setting, day, outcomes))


def _numbers(values: Iterable[str]) -> dict[str, int]:
    """Each different value and its place among them, sorted."""
    return {value: number for number, value in enumerate(sorted(set(values)))}


def _packed(columns: Sequence[Narrow]) -> tuple[Integers, list[int]]:
    """(rows,) several columns of numbers from 0 as one that sorts like them, and how many bits each takes."""
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > KEY_BITS:
        raise ValueError(f"voters, days, policies and settings take {sum(widths)} bits; expected {KEY_BITS} at most")
    key = columns[0].astype(np.int64)
    for column, width in zip(columns[1:], widths[1:], strict=True):
        if width:
            key <<= width
            key |= column
    return key, widths


def _unpacked(key: Integers, widths: list[int]) -> list[Narrow]:
    """The columns of which `key` was made, which is used up."""
    found = []
    for width in reversed(widths):
        found.append(narrowed(key & ((1 << width) - 1)) if width else np.zeros(len(key), np.int8))
        key >>= width
    return found[::-1]


def _summed(key: Integers, outcomes: Narrow) -> tuple[Integers, Narrow]:
    """Each key once, in order, and the sum of the outcomes of all its rows."""
    if not len(key):
        return key, outcomes
    if not is_sorted(key):
        order = np.argsort(key)  # the order among equal keys changes no sum
        key, outcomes = key[order], outcomes[order]
    begins = begins_run(key)
    if begins.all():
        return key, outcomes
    return key[begins], _sums(outcomes.T, begins)


def _sums(outcomes: Narrow, begins: Booleans) -> Narrow:
    """(runs, 4) sums over the runs of rows, of outcomes (4, rows): one column at a time. `begins` (rows,): as of
    `begins_run`. Most runs have one row, so that the others are added to the first ones."""
    rest = np.flatnonzero(~begins)
    run = np.cumsum(begins, dtype=np.int32)[rest] - 1

    def summed(column: Narrow) -> Narrow:
        found = column[begins].astype(np.int64)
        np.add.at(found, run, column[rest].astype(np.int64))
        return narrowed(found)

    return np.stack([summed(column) for column in outcomes]).T


def _counted(key: Integers, outcome: Narrow) -> tuple[Integers, Integers]:
    """Each key once, in order, and how often each outcome comes with it. Sorting numbers alone is quickest."""
    both = np.sort(key << 2 | outcome)
    key, outcome = both >> 2, both & 3
    rows = starts_of_runs(key)
    row_of = np.repeat(np.arange(len(rows)), np.diff(rows, append=len(key)))
    cell = outcome * len(rows) + row_of  # an outcome's counts lie together in memory
    return key[rows], np.bincount(cell, minlength=len(OUTCOMES) * len(rows)).reshape(len(OUTCOMES), len(rows)).T


def _counted_at_once(key: Integers, outcome: Narrow) -> tuple[Integers, Integers]:
    """The same for keys of FEW_KEYS_BITS: without sorting them."""
    places = len(OUTCOMES) * (int(key.max(initial=-1)) + 1)
    times = np.bincount(key * len(OUTCOMES) + outcome, minlength=places).reshape(-1, len(OUTCOMES))
    found = np.flatnonzero(times.any(axis=1))
    return found, times[found]


@dataclass(frozen=True)
class Record:
    """How a policy's votes went, from either side."""

    wins: int
    losses: int
    ties: int
    both_bad: int

    @property
    def votes(self) -> int:
        return self.wins + self.losses + self.ties + self.both_bad

    @property
    def win_rate(self) -> float:
        """Wins as a fraction of all votes; 0.0 without a vote."""
        return self.wins / self.votes if self.votes else 0.0


def records(counts: Counts) -> dict[str, Record]:
    return {name: Record(*row) for name, row in zip(counts.names, counts.per_policy().tolist(), strict=True)}
