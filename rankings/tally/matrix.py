"""Head to head: the votes on each pair. No Django."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypedDict

import numpy as np

from rankings.tally.counts import MIRRORED, Counts


class Matrix(TypedDict):
    """`rates[i][j]`: the share of the votes on i and j that i scored, ties and both bad counting half; null without a
    vote. `votes[i][j]` is how many there were. Both in the order of `names`: by component, then by rating.

    `components`: the number of each name's component, from 1; between components there is neither vote nor order.
    """

    names: list[str]
    components: list[int]
    rates: list[list[float | None]]
    votes: list[list[int]]


def matrix(counts: Counts, components: Sequence[Sequence[str]]) -> Matrix:
    """`components`: the policies to show, each component best first; policies missing in the counts have no votes."""
    order = [name for names in components for name in names]
    place = {name: number for number, name in enumerate(counts.names)}
    pairs = counts.per_pair()
    both = pairs + pairs.transpose(1, 0, 2)[:, :, MIRRORED]
    votes = both.sum(axis=2)
    score = both @ np.array([1.0, 0.0, 0.5, 0.5])

    def cell(one: str, other: str) -> tuple[int, float | None]:
        if one not in place or other not in place:
            return 0, None
        at = place[one], place[other]
        return int(votes[at]), round(float(score[at] / votes[at]), 4) if votes[at] else None

    cells = [[cell(one, other) for other in order] for one in order]
    return {
        "names": order,
        "components": [number for number, names in enumerate(components, 1) for _ in names],
        "rates": [[rate for _, rate in row] for row in cells],
        "votes": [[number for number, _ in row] for row in cells],
    }


def only(whole: Matrix, names: Collection[str]) -> Matrix:
    """Some of its policies, in the same order. A matrix of an earlier release knows no components."""
    components = whole.get("components", [1] * len(whole["names"]))
    kept = [place for place, name in enumerate(whole["names"]) if name in names]
    return {
        "names": [whole["names"][place] for place in kept],
        "components": _renumbered([components[place] for place in kept]),
        "rates": [[whole["rates"][one][other] for other in kept] for one in kept],
        "votes": [[whole["votes"][one][other] for other in kept] for one in kept],
    }


def _renumbered(components: Sequence[int]) -> list[int]:
    """From 1 without gaps, when only some policies are left."""
    known = sorted(set(components))
    return [known.index(number) + 1 for number in components]
