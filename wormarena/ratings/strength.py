"""Bradley-Terry with ties over the games of each pair, on the engine of the votes' rankings.

A draw is an outcome of its own (Davidson). Games of one pair are not independent: two models repeat what they do
against each other, so intervals are clustered by pair. Games of a model against itself say nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rankings.fit.ratings import Options, Rating, board_ratings
from rankings.tally.counts import Columns, Counts

OPTIONS = Options(cap=0, ties="davidson")


class Pair(NamedTuple):
    """Games of two models, seen from `a`."""

    a: str
    b: str
    wins: int
    losses: int
    ties: int


def strengths(pairs: Iterable[Pair]) -> dict[str, Rating]:
    """Ratings of all models in the pairs. Each pair once, from either side; those with itself are left out."""
    met = sorted({_ordered(pair) for pair in pairs if pair.a != pair.b})
    names = sorted({name for pair in met for name in (pair.a, pair.b)})
    if not names:
        return {}
    place = {name: number for number, name in enumerate(names)}
    rows = np.array([(place[p.a], place[p.b], p.wins, p.losses, p.ties, 0) for p in met], dtype=np.int64)
    none = np.zeros(len(rows), dtype=np.int64)
    cluster = np.arange(len(rows), dtype=np.int64)
    counts = Counts.of(names, Columns(rows[:, 0], rows[:, 1], cluster, none, none, rows[:, 2:]))
    return board_ratings(counts, OPTIONS)["models"]


def _ordered(pair: Pair) -> Pair:
    return pair if pair.a < pair.b else Pair(pair.b, pair.a, pair.losses, pair.wins, pair.ties)
