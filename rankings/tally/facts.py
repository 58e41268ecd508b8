"""What is known of each counted vote whose battle was played: who voted, on what, and what physics says. No Django."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankings.tally.arrays import Booleans, Integers
from rankings.tally.table import KEYS, in_columns, restricted, rows_among

LEFT, RIGHT, EVEN = range(3)
UNKNOWN = -1
"""Physics has no verdict: no known goal, or a side failed."""
TEXTS = KEYS[:-1]
"""All but the network."""
NUMBERS = ("vote", "physics", "steps_left", "steps_right")


class Fact(NamedTuple):
    """Of one vote. `task` is "" without a known goal, `voter` is "" where nobody knows who; `vote` is a place in
    OUTCOMES; `physics` is LEFT, RIGHT, EVEN or UNKNOWN; steps are those of all turns that the vote is about."""

    setting: str
    scene: str
    task: str
    left: str
    right: str
    voter: str
    day: str
    vote: int
    physics: int
    steps_left: int
    steps_right: int


@dataclass(frozen=True)
class VoteFacts:
    """A row per vote, fields as in `Fact`. Texts stand once, in sorted `values`; `codes[name]` (rows,) is each row's
    place in `values[name]`, as in `rankings.tally.table.VoteTable`."""

    values: dict[str, tuple[str, ...]]
    codes: dict[str, Integers]
    vote: Integers
    """(rows,)"""
    physics: Integers
    """(rows,)"""
    steps_left: Integers
    """(rows,)"""
    steps_right: Integers
    """(rows,)"""

    @classmethod
    def of(cls, rows: Iterable[Fact]) -> VoteFacts:
        """They are never all in memory as texts."""
        values, codes, numbers = in_columns(rows, TEXTS, len(NUMBERS))
        return cls(values, codes, *np.ascontiguousarray(numbers.T))

    def __len__(self) -> int:
        return len(self.vote)

    def where(self, rows: Booleans | Integers) -> VoteFacts:
        """Only some rows, by a mask or by their places; the values stay."""
        codes = {name: column[rows] for name, column in self.codes.items()}
        return VoteFacts(self.values, codes, *(column[rows] for column in self.numbers))

    def among(self, names: Collection[str]) -> VoteFacts:
        """Only the votes on two of these contestants, as if there were no others."""
        rows = rows_among(names, self.values, self.codes)
        if rows.all():
            return self
        return VoteFacts(*restricted(rows, self.values, self.codes), *(column[rows] for column in self.numbers))

    @property
    def numbers(self) -> tuple[Integers, Integers, Integers, Integers]:
        """In the order of NUMBERS."""
        return self.vote, self.physics, self.steps_left, self.steps_right

    @property
    def judged(self) -> Booleans:
        """(rows,) physics has a verdict."""
        found: Booleans = self.physics != UNKNOWN
        return found

    def rows(self) -> list[Fact]:
        """Sorted."""
        texts = [[self.values[name][code] for code in self.codes[name].tolist()] for name in TEXTS]
        columns = [*texts, *(column.tolist() for column in self.numbers)]
        return sorted(Fact(*row) for row in zip(*columns, strict=True))
