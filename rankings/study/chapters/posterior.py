"""Where it says 90 %, is A better than B at the task in 90 of 100?"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from rankings.study.chapters.form import Chapter, table
from rankings.study.plots import Axes, plot
from rankings.study.tasks import Said, TaskArena, said
from rankings.study.voters import Crowd
from rankings.tally.arrays import Booleans, Floats

EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
SETTINGS = {
    "200 votes": TaskArena(200),
    "1000 votes": TaskArena(1000),
    "5000 votes": TaskArena(5000),
    "1000 votes, 60 voters": TaskArena(1000, crowd=Crowd(60, 100)),
    "1000 votes, no tastes": TaskArena(1000, crowd=Crowd()),
    "1000 votes, tasks differ by 200 points": TaskArena(1000, offset=200.0),
    "1000 votes, tasks do not differ": TaskArena(1000, offset=0.0),
}
JOINTLY = "jointly"

TEXT = """
## A better than B at a task
Eight policies, four tasks, a policy's ability at a task normal about its own in general, by 100 points unless said
otherwise; 400 voters with tastes, pairs and tasks drawn unequally. For each pair at each task: how often the favourite
is truly better, by the published probability. 95 % intervals come from resampling arenas.
{repeats} arenas each.

{bins}

![Calibration](images/study-posterior.svg)

Held: 95 % intervals of the difference at a task that hold the truth. Error: mean squared error of the probability. The
task's own board knows only the votes on that task; the board of all tasks pools them:

{ways}
"""


def chapter(repeats: int) -> Chapter:
    found = {name: [said(setting, seed) for seed in range(repeats)] for name, setting in SETTINGS.items()}
    jointly = {name: [each[JOINTLY] for each in arenas] for name, arenas in found.items()}
    bins = {name: _bins(arenas) for name, arenas in jointly.items()}
    spans = [f"{100 * low:.0f} to {100 * high:.0f} %" for low, high in itertools.pairwise(EDGES)]
    text = TEXT.format(
        repeats=repeats,
        bins=table(("arenas", *spans), [(name, *map(_told, row)) for name, row in bins.items()]),
        ways=table(
            ("arenas", *(f"{way}: {what}" for way in next(iter(found.values()))[0] for what in ("held", "error"))),
            [(name, *_ways(arenas)) for name, arenas in found.items()],
        ),
    )
    series = {"as it should be": [(50.0, 50.0), (100.0, 100.0)]} | {
        name: [(100 * row[0], 100 * row[1]) for row in bins[name] if row is not None]
        for name in ("200 votes", "1000 votes")
    }
    ticks = [50, 60, 70, 80, 90, 100]
    axes = Axes(
        "A better than B at a task: said, and so",
        "probability, per cent",
        "the favourite is better, per cent",
        (48, 102),
        (40, 122),
        {float(tick): f"{tick}" for tick in ticks},
        ticks,
    )
    return Chapter(text, {"study-posterior.svg": plot(axes, series)})


def _bins(arenas: list[Said]) -> list[tuple[float, float, float] | None]:
    """Of each bin: the mean probability, the share of favourites that are better, and its 95 % half-width."""
    found: list[tuple[float, float, float] | None] = []
    for low, high in itertools.pairwise(EDGES):
        inside = [(each.chance >= low) & (each.chance < high + (high == 1.0)) for each in arenas]
        number = np.array([own.sum() for own in inside], dtype=float)
        right = np.array([each.right[own].sum() for each, own in zip(arenas, inside, strict=True)], dtype=float)
        said_so = sum(float(each.chance[own].sum()) for each, own in zip(arenas, inside, strict=True))
        found.append(None if not number.sum() else (said_so / number.sum(), *_ratio(right, number)))
    return found


def _ratio(part: Floats, whole: Floats) -> tuple[float, float]:
    """Sum over sum, and its half-width by arenas (the linearised variance of a ratio)."""
    share = part.sum() / whole.sum()
    residual = part - share * whole
    return float(share), float(1.96 * np.sqrt(np.sum(residual**2)) / whole.sum())


def _told(row: tuple[float, float, float] | None) -> str:
    return "–" if row is None else f"{100 * row[0]:.1f}: {100 * row[1]:.1f} ± {100 * row[2]:.1f}"


def _ways(arenas: list[dict[str, Said]]) -> list[str]:
    cells = []
    for way in arenas[0]:
        holds, right, chance = (_joined([each[way] for each in arenas], name) for name in ("holds", "right", "chance"))
        cells += [f"{100 * _mean(holds):.1f} %", f"{_mean((chance - right) ** 2):.3f}"]
    return cells


def _joined(found: list[Said], name: str) -> Any:
    return np.concatenate([getattr(each, name) for each in found])


def _mean(values: Floats | Booleans) -> float:
    return float(np.mean(values))
