"""Ratings controlled for how answers look: is a contestant preferred for what it says, or for its length and layout?

The margin of a vote is theta_left - theta_right + z beta, theta and beta fitted together as `rankings.analysis.terms`
does. For each measure of a side (its tokens, headings, ...) with a on the left and b on the right

    z = 3 (a - b) / (a + b + 1),

so that beta is about what having twice as much is worth. This is the style control of text arenas (T. Li,
A. Angelopoulos, W. Chiang, Does style matter?, 2024, lmsys.org/blog/2024-08-28-style-control). Its features are the
same, divided by their standard deviation, which differs from board to board. No Django.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from rankings.analysis import term_boards, terms
from rankings.tally.arrays import Booleans, Floats
from rankings.tally.facts import VoteFacts
from rankings.tally.table import Board, VoteTable

WHOLE = "all"
"""The group of all votes."""
LEAST_VOTES = 20
"""A group with fewer has no board of its own."""
TWICE = 3.0
"""1 / ((2 - 1) / (2 + 1))"""


class ControlledBoard(TypedDict):
    """The same votes without terms, with that of the first measure (the length), and with those of all of them. A
    rating of `plain` has the interval of the others."""

    plain: terms.AdjustedBoard
    length: terms.AdjustedBoard
    style: terms.AdjustedBoard


@dataclass(frozen=True)
class Looks:
    """How the sides of voted battles look, row by row with the facts of their votes."""

    facts: VoteFacts
    left: Mapping[str, Floats]
    """(votes,) of each measure; the first is the length."""
    right: Mapping[str, Floats]
    groups: Mapping[str, Sequence[str]]
    """(votes,) by each dimension, such as the language of the prompt; "" is no group."""

    def differences(self) -> dict[str, Floats]:
        """(votes,) z of each measure."""
        return {name: difference(left, self.right[name]) for name, left in self.left.items()}

    def rows(self) -> Iterator[tuple[str, Booleans]]:
        """The name of each group that has enough votes, and which they are."""
        yield WHOLE, np.ones(len(self.facts), dtype=bool)
        for dimension, column in self.groups.items():
            values = np.array(column)
            for value in sorted(set(column) - {""}):
                mine = values == value
                if np.count_nonzero(mine) >= LEAST_VOTES:
                    yield f"{dimension}={value}", mine


def difference(left: Floats, right: Floats) -> Floats:
    """(votes,) from -3 to 3; 1 where the left side has about twice as much, 0 where both have as much."""
    found: Floats = TWICE * (left - right) / (left + right + 1.0)
    return found


def boards(table: VoteTable, looks: Looks, *, cap: int) -> dict[str, ControlledBoard]:
    """By the name of a group: WHOLE, "language=de", ... Empty without a vote. `cap`: as on the boards."""
    if not len(looks.facts):
        return {}
    measured = looks.differences()
    found = {}
    for name, mine in looks.rows():
        own = {measure: column[mine] for measure, column in measured.items()}
        votes = term_boards.votes_of(table, looks.facts.where(mine), Board(), cap=cap, measured=own)
        found[name] = controlled(votes, tuple(measured))
    return found


def controlled(votes: terms.TermVotes, measures: Sequence[str]) -> ControlledBoard:
    return {
        "plain": terms.board(votes, ()),
        "length": terms.board(votes, measures[:1]),
        "style": terms.board(votes, measures),
    }
