"""How much each setting weighs in a board over several settings. No Django."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from rankings.fit.bradley_terry import Fit
from rankings.tally.arrays import Floats, Integers
from rankings.tally.counts import Counts


class MeanOver(TypedDict):
    """`robots`: of each component of the board, robot -> its share in the ratings, all together 1. `played_on`:
    contestant -> the robots on which it has votes, where these are not all of its component's."""

    robots: list[dict[str, float]]
    played_on: dict[str, list[str]]


def mean_over(counts: Counts, settings: Sequence[str], components: Sequence[Sequence[str]], fit: Fit) -> MeanOver:
    """`settings`: the names behind the numbers of settings in `counts`. `fit`: of these counts."""
    votes, weights = _votes(counts, len(settings)), fit.on_settings
    found: MeanOver = {"robots": [], "played_on": {}}
    for names in components:
        members = [counts.names.index(name) for name in names]
        here = np.flatnonzero(votes[:, members].any(axis=1)).tolist()
        shares = _shares(weights[np.ix_(here, members)].sum(axis=1))
        found["robots"].append({settings[at]: share for at, share in zip(here, shares, strict=True)})
        for name, member in zip(names, members, strict=True):
            if not votes[here, member].all():
                found["played_on"][name] = [settings[at] for at in here if votes[at, member]]
    return found


def _shares(weights: Floats) -> list[float]:
    """All together 1; alike where nothing weighs anything."""
    whole = weights.sum()
    shares = weights / whole if whole > 0 else np.full(len(weights), 1.0 / len(weights))
    return [round(share, 4) for share in shares.tolist()]


def _votes(counts: Counts, settings: int) -> Integers:
    """(settings, k) how many votes each contestant has on each setting."""
    size = settings * len(counts.names)
    found = np.zeros(size)
    for _, some in counts.chunks():
        first, votes = some.setting * len(counts.names), some.votes
        found += np.bincount(first + some.left, votes, size) + np.bincount(first + some.right, votes, size)
    return found.astype(np.int64).reshape(settings, len(counts.names))
