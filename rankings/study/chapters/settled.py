"""Is a pair that is called settled settled, though the board is looked at every hour?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankings.analysis.settled import ALIKE, ALPHA
from rankings.study.chapters.form import Chapter, share, table
from rankings.study.looks import GrowingArena, Growth, Watched, planned, watch
from rankings.study.voters import Crowd
from rankings.tally.arrays import Booleans, Floats

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
Eight policies, four of them with a twin that is truly equal; 30 votes an hour for 150 hours, and a look at the board
after each. Shares of pairs ever called settled although equal, or the wrong way round; wanted: at most {error:.0f} %.
The last column does the same with "the 95 % interval of the difference excludes 0". {repeats} arenas each.

{errors}

Pairs wrongly called as good as equal, within {alike:.0f} points: {unequal}. How soon a pair of "{usual}" is settled:

{times}

Planning could leave settled pairs only their uniform share (the same arenas, planned pairs, 400 voters, after 100
hours):

{plans}
"""


class Together(NamedTuple):
    """The pairs of all arenas in a row (pairs,)."""

    gap: Floats
    settled: Booleans
    votes: Floats
    own_votes: Floats
    wrong: Booleans
    unequal: Booleans
    naive: Booleans

    @classmethod
    def of(cls, watched: list[Watched]) -> Together:
        def joined(name: str) -> Any:
            return np.concatenate([getattr(each, name) for each in watched])

        names = ("votes", "own_votes", "wrong", "unequal", "naive")
        return cls(joined("gap"), joined("at") >= 0, *(joined(name) for name in names))


def chapter(repeats: int) -> Chapter:
    found = {name: Together.of([watch(growth, seed) for seed in range(repeats)]) for name, growth in WATCHED.items()}
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
    return Chapter(text, {})


def _errors(name: str, found: Together) -> tuple[str, ...]:
    equal = found.gap == 0
    return name, _share(found.wrong, equal), _share(found.wrong, ~equal), _share(found.naive, equal)


def _times(span: tuple[float, float], found: Together) -> tuple[object, ...] | None:
    low, high = span
    chosen = (found.gap >= low) & (found.gap < high) & (found.gap > 0) if high else found.gap == 0
    if not chosen.any():
        return None
    done = chosen & found.settled
    name = "0" if not high else f"{low:.0f} to {high:.0f}" if np.isfinite(high) else f"from {low:.0f}"
    medians = [f"{np.median(votes[done]):.0f}" if done.any() else "–" for votes in (found.votes, found.own_votes)]
    return name, int(chosen.sum()), f"{100 * done.sum() / chosen.sum():.0f} %", *medians


def _compared(repeats: int) -> list[tuple[str, ...]]:
    """Both ways of planning, and what the second one changes in the same arena."""
    ways = {"as others": _arenas(False, repeats), "left alone": _arenas(True, repeats)}
    ways["what leaving them alone changes"] = ways["left alone"] - ways["as others"]
    return [(name, *map(_mean, found)) for name, found in ways.items()]


def _arenas(leave: bool, repeats: int) -> Floats:
    """(3, arenas) pairs settled after the last look, mean half-width, and pairs settled, averaged over all looks.

    The plan follows from an arena's own pairs: the same seeds give the same truth and the same voters.
    """
    watched = [watch(LATER, seed, planned(GrowingArena(LATER, seed), leave_settled=leave)) for seed in range(repeats)]
    return np.array([[each.settled[-1], each.half_width.mean(), each.settled.mean()] for each in watched]).T


def _mean(values: Floats) -> str:
    """With its 95 % interval."""
    return f"{values.mean():.2f} ± {1.96 * values.std(ddof=min(1, len(values) - 1)) / np.sqrt(len(values)):.2f}"


def _share(hit: Booleans, among: Booleans) -> str:
    return share(int((hit & among).sum()), int(among.sum())) if among.any() else "no pair"
