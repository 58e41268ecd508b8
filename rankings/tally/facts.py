"""Each counted vote whose battle was played: the voter, the contestants, and which side succeeded. No Django."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from rankings.tally.arrays import Booleans, Codes, Column, Integers, Narrow, kept
from rankings.tally.table import KEYS, Values, in_columns, restricted, rows_among

LEFT, RIGHT, EVEN = range(3)
UNKNOWN = -1
"""The task has no known goal, or a side failed."""
FACT_KEYS = KEYS[:-1]
"""All but the network."""
NUMBERS = ("vote", "success", "steps_left", "steps_right")


class Fact(NamedTuple):
    """Of one vote. `task`: "" without a known goal; `voter`: "" where it is unknown; `vote`: a place in OUTCOMES;
    `success`: which side reached the goal more often, LEFT, RIGHT, EVEN or UNKNOWN; steps: of all turns voted on."""

    setting: str
    scene: str
    task: str
    left: str
    right: str
    voter: str
    day: str
    vote: int
    success: int
    steps_left: int
    steps_right: int


@dataclass(frozen=True)
class VoteFacts:
    """A row per vote; fields as in `Fact`, numbers all (rows,). Texts stand once, in sorted `values`; `codes[name]`
    (rows,) is each row's place in `values[name]`, as in `rankings.tally.table.VoteTable`."""

    values: Values
    codes: Codes
    vote: Column = Column()
    success: Column = Column()
    steps_left: Column = Column()
    steps_right: Column = Column()

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", Codes(self.codes))

    @classmethod
    def of(cls, rows: Iterable[Fact]) -> VoteFacts:
        """From rows that are never all in memory at once."""
        values, codes, numbers = in_columns(rows, FACT_KEYS, len(NUMBERS))
        return cls(values, Codes(codes), *numbers.T)

    def __len__(self) -> int:
        return len(kept(self, "vote"))

    def where(self, rows: Booleans | Integers) -> VoteFacts:
        """Only some rows, by a mask or by their places; the values stay."""
        codes = Codes((name, column[rows]) for name, column in self.codes.items())
        return VoteFacts(self.values, codes, *(column[rows] for column in self.numbers))

    def among(self, names: Collection[str]) -> VoteFacts:
        """Only the votes on two of these contestants, as if there were no others."""
        rows = rows_among(names, self.values, self.codes)
        if rows.all():
            return self
        values, codes = restricted(rows, self.values, self.codes)
        return VoteFacts(values, Codes(codes), *(column[rows] for column in self.numbers))

    @property
    def numbers(self) -> list[Narrow]:
        """In the order of NUMBERS, as they lie."""
        return [kept(self, name) for name in NUMBERS]

    @property
    def judged(self) -> Booleans:
        """(rows,) whether the success of both sides is known."""
        found: Booleans = kept(self, "success") != UNKNOWN
        return found
