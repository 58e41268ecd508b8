"""Outcome counts: all that Bradley-Terry needs to know about the votes. Numbers in, numbers out, no Django."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

OUTCOMES = ("left_better", "right_better", "tie", "both_bad")
LEFT_SCORES = np.array([1.0, 0.0, 0.5, 0.5])
"""What an outcome is worth to the left side in Bradley-Terry; the right side gets the rest of one."""
UNKNOWN_VOTER = -1

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Ballot(NamedTuple):
    """One vote as the ranking sees it. `outcome` is one of OUTCOMES; `voter` None means that nobody knows who."""

    left: str
    right: str
    outcome: str
    voter: str | None = None


@dataclass(frozen=True)
class Counts:
    """One row per (left, right, voter), sorted by it; the order of the votes leaves no trace."""

    names: tuple[str, ...]
    """Every policy, sorted, those without a vote included."""
    left: Integers
    """(rows,) index into `names`."""
    right: Integers
    """(rows,) index into `names`."""
    voter: Integers
    """(rows,) a number per voter from 0, or UNKNOWN_VOTER: such votes count as cast by different people."""
    outcomes: Integers
    """(rows, 4) votes per outcome, columns as in OUTCOMES."""

    @property
    def total(self) -> int:
        return int(self.outcomes.sum())

    def without_sides(self) -> Counts:
        """The same votes with the policy of the smaller index on the left: who stood where no longer matters."""
        swap = self.left > self.right
        outcomes = np.where(swap[:, None], self.outcomes[:, [1, 0, 2, 3]], self.outcomes)
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        return _merged(self.names, low, high, self.voter, outcomes)

    def per_policy(self) -> Integers:
        """(names, 4): wins, losses, ties and both_bad of each policy, from either side."""
        found = np.zeros((len(self.names), len(OUTCOMES)), np.int64)
        np.add.at(found, self.left, self.outcomes)
        np.add.at(found, self.right, self.outcomes[:, [1, 0, 2, 3]])
        return found

    def weights(self, cap: int) -> Floats:
        """(rows,) what a vote of the row weighs when a voter's votes together weigh at most `cap` (0: no limit)."""
        known = self.voter >= 0
        if not cap or not known.any():
            return np.ones(len(self.voter))
        cast = np.bincount(self.voter[known], weights=self.outcomes[known].sum(axis=1))
        return np.where(known, np.minimum(1.0, cap / cast[self.voter]), 1.0)


def tally(ballots: Iterable[Ballot], names: Iterable[str] = ()) -> Counts:
    """Count votes. `names` adds policies that may have none. ValueError for an unknown outcome or a self-match."""
    votes = Counter(ballots)
    for ballot in votes:
        _check(ballot)
    known = tuple(sorted({*names, *(ballot.left for ballot in votes), *(ballot.right for ballot in votes)}))
    index = {name: number for number, name in enumerate(known)}
    voters = sorted({ballot.voter for ballot in votes if ballot.voter is not None})
    number: dict[str | None, int] = {voter: place for place, voter in enumerate(voters)}
    number[None] = UNKNOWN_VOTER
    cells = np.array(
        [(index[b.left], index[b.right], number[b.voter], OUTCOMES.index(b.outcome), n) for b, n in votes.items()],
        dtype=np.int64,
    ).reshape(-1, 5)
    outcomes = np.zeros((len(cells), len(OUTCOMES)), np.int64)
    outcomes[np.arange(len(cells)), cells[:, 3]] = cells[:, 4]
    return _merged(known, cells[:, 0], cells[:, 1], cells[:, 2], outcomes)


def _merged(names: tuple[str, ...], left: Integers, right: Integers, voter: Integers, outcomes: Integers) -> Counts:
    """Rows with the same (left, right, voter) summed, all sorted by it."""
    width = max(1, len(names))
    voters = int(voter.max(initial=UNKNOWN_VOTER)) + 2
    keys, place = np.unique((left * width + right) * voters + voter + 1, return_inverse=True)
    merged = np.zeros((len(keys), len(OUTCOMES)), np.int64)
    np.add.at(merged, place, outcomes)
    pairs, voter = np.divmod(keys, voters)
    left, right = np.divmod(pairs, width)
    return Counts(names, left, right, voter - 1, merged)


def _check(ballot: Ballot) -> None:
    if ballot.outcome not in OUTCOMES:
        raise ValueError(f"unknown outcome {ballot.outcome!r}; known: {', '.join(OUTCOMES)}")
    if ballot.left == ballot.right:
        raise ValueError(f"{ballot.left!r} against itself; a battle needs two different policies")


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
