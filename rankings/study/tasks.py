"""Where it says that A is better than B at a task with 90 %, is it so in 90 of 100?"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rankings.analysis.by_task import fit_tasks
from rankings.analysis.comparison import DifferenceBelief
from rankings.fit.bradley_terry import SCALE, fit
from rankings.fit.ratings import CAP
from rankings.study.form import Chapter, percent, table
from rankings.study.plots import Axes, plot
from rankings.study.voters import TIES, Crowd, columns, counted, opinions, outcomes, population, truth, unequal_chances
from rankings.tally.arrays import Booleans, Floats
from rankings.tally.counts import Counts

VOTES_A_DAY = 500


class TaskArena(NamedTuple):
    """`votes` over all `tasks`; a contestant's ability at each is normal about its own in general, by `offset` points.
    Pairs and tasks are drawn unequally."""

    votes: int = 1000
    contestants: int = 8
    tasks: int = 4
    offset: float = 100.0
    crowd: Crowd = Crowd(400, 100)


class PairPredictions(NamedTuple):
    """Of each pair at each task (n,): `chance` that the favourite is better, and whether it `is`; whether the interval
    `holds` the true difference; its `half_width` [Elo points]."""

    chance: Floats
    right: Booleans
    holds: Booleans
    half_width: Floats


def votes(setting: TaskArena, theta: Floats, rng: np.random.Generator) -> Counts:
    """`theta` (tasks, k) natural units. A task's number stands where a setting's would."""
    size, number, crowd = setting.contestants, setting.votes, setting.crowd
    pairs = np.stack(np.triu_indices(size, 1), axis=1)
    left, right = pairs[rng.choice(len(pairs), number, p=unequal_chances(len(pairs), 1.0, rng))].T
    task = rng.choice(setting.tasks, number, p=unequal_chances(setting.tasks, 1.0, rng))
    voters = crowd.voters or number
    voter = rng.choice(voters, number, p=unequal_chances(voters, 1.0, rng)) if crowd.voters else np.arange(number)
    taste = opinions(np.zeros(size), Crowd(voters, crowd.taste), rng)
    margin = theta[task, left] - theta[task, right] + taste[voter, left] - taste[voter, right]
    day = np.arange(number) // VOTES_A_DAY
    return counted(size, columns(left, right, outcomes(margin, TIES, rng), voter, day)._replace(setting=task))


def predictions(setting: TaskArena, seed: int) -> dict[str, PairPredictions]:
    """By each way of judging a task: from all tasks jointly, from its own board, and from the board of all tasks."""
    rng = np.random.default_rng(seed)
    general = truth(setting.contestants, rng)
    theta = general + rng.normal(0.0, setting.offset / SCALE, (setting.tasks, setting.contestants))
    counts = votes(setting, theta, rng)
    found = fit_tasks(counts, [str(task) for task in range(setting.tasks)], cap=CAP)
    true = np.stack([population(row, setting.crowd.taste) for row in theta])
    ways = {"jointly": (found.mean, found.deviation), **_boards(counts, setting)}
    return {name: _predictions(mean, deviation, true) for name, (mean, deviation) in ways.items()}


def _boards(counts: Counts, setting: TaskArena) -> dict[str, tuple[Floats, Floats]]:
    pooled = replace(counts, setting=0 * counts.setting)
    alone = [fit(pooled.where(counts.setting == task), cap=CAP) for task in range(setting.tasks)]
    boards = {"the task's own board": alone, "the board of all tasks": [fit(pooled, cap=CAP)] * setting.tasks}
    return {
        name: (np.stack([each.rating for each in board]), np.stack([each.difference_sd for each in board]))
        for name, board in boards.items()
    }


def _predictions(mean: Floats, deviation: Floats, true: Floats) -> PairPredictions:
    one, other = np.triu_indices(mean.shape[1], 1)
    difference, sd = (mean[:, one] - mean[:, other]).ravel(), deviation[:, one, other].ravel()
    gap = (true[:, one] - true[:, other]).ravel()
    beliefs = [DifferenceBelief(abs(d), s) for d, s in zip(difference.tolist(), sd.tolist(), strict=True)]
    half_width = np.array([belief.high - belief.mean for belief in beliefs])
    return PairPredictions(
        np.array([belief.chance for belief in beliefs]),
        np.sign(gap) == np.sign(difference),
        np.abs(difference - gap) <= half_width,
        half_width,
    )


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
Eight contestants, four tasks, a contestant's ability at a task normal about its own in general, by 100 points unless
said otherwise; 400 voters with tastes, pairs and tasks drawn unequally. For each pair at each task: how often the
favourite is truly better, by the published probability. 95 % intervals are by arenas (linearised variance of a ratio).
{repeats} arenas each.

{bins}

![Calibration](images/study-posterior.svg)

Held: 95 % intervals of the difference at a task that hold the truth. Error: mean squared error of the probability. The
task's own board knows only the votes on that task; the board of all tasks pools them:

{ways}
"""


def chapter(repeats: int) -> Chapter:
    found = {name: [predictions(setting, seed) for seed in range(repeats)] for name, setting in SETTINGS.items()}
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


def _bins(arenas: list[PairPredictions]) -> list[tuple[float, float, float] | None]:
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


def _ways(arenas: list[dict[str, PairPredictions]]) -> list[str]:
    cells = []
    for way in arenas[0]:
        holds, right, chance = (_joined([each[way] for each in arenas], name) for name in ("holds", "right", "chance"))
        cells += [percent(holds.mean()), f"{np.mean((chance - right) ** 2):.3f}"]
    return cells


def _joined(found: list[PairPredictions], name: str) -> Any:
    return np.concatenate([getattr(each, name) for each in found])
