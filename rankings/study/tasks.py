"""Arenas with several tasks: does "A is better than B at this task" hold as often as it says? No Django."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankings.analysis.by_task import fit_tasks
from rankings.analysis.comparison import DifferenceBelief
from rankings.fit.bradley_terry import SCALE, fit
from rankings.fit.ratings import CAP
from rankings.study.voters import Crowd, outcomes, population, truth
from rankings.tally.arrays import Booleans, Floats
from rankings.tally.counts import Columns, Counts

VOTES_A_DAY = 500


class TaskArena(NamedTuple):
    """`votes` over all `tasks`; a policy's ability at each is normal about its own in general, by `offset` points.
    Pairs and tasks are drawn unequally."""

    votes: int = 1000
    policies: int = 8
    tasks: int = 4
    offset: float = 100.0
    crowd: Crowd = Crowd(400, 100)


class Said(NamedTuple):
    """Of each pair at each task (n,): `chance` that the favourite is better, and whether it `is`; whether the interval
    `holds` the true difference; its `half_width` [Elo points]."""

    chance: Floats
    right: Booleans
    holds: Booleans
    half_width: Floats


def votes(setting: TaskArena, theta: Floats, rng: np.random.Generator) -> Counts:
    """`theta` (tasks, k) natural units. A task's number stands where a setting's would."""
    size, number, crowd = setting.policies, setting.votes, setting.crowd
    pairs = np.stack(np.triu_indices(size, 1), axis=1)
    pair = pairs[rng.choice(len(pairs), number, p=_uneven(len(pairs), rng))]
    task = rng.choice(setting.tasks, number, p=_uneven(setting.tasks, rng))
    voter = rng.choice(crowd.voters, number, p=_uneven(crowd.voters, rng)) if crowd.voters else np.arange(number)
    taste = rng.normal(0.0, crowd.taste / SCALE, (crowd.voters or number, size))
    margin = theta[task, pair[:, 0]] - theta[task, pair[:, 1]] + taste[voter, pair[:, 0]] - taste[voter, pair[:, 1]]
    names = [f"p{place:03}" for place in range(size)]
    day = np.arange(number) // VOTES_A_DAY
    return Counts.of(names, Columns(pair[:, 0], pair[:, 1], voter, task, day, outcomes(margin, 0.35, rng)))


def said(setting: TaskArena, seed: int) -> dict[str, Said]:
    """By each way of judging a task: from all tasks jointly, from its own board, and from the board of all tasks."""
    rng = np.random.default_rng(seed)
    general = truth(setting.policies, rng)
    theta = general + rng.normal(0.0, setting.offset / SCALE, (setting.tasks, setting.policies))
    counts = votes(setting, theta, rng)
    found = fit_tasks(counts, [str(task) for task in range(setting.tasks)], cap=CAP)
    true = np.stack([population(row, setting.crowd.taste) for row in theta])
    ways = {"jointly": (found.mean, found.deviation), **_boards(counts, setting)}
    return {name: _said(mean, deviation, true) for name, (mean, deviation) in ways.items()}


def _boards(counts: Counts, setting: TaskArena) -> dict[str, tuple[Floats, Floats]]:
    whole = fit(_one_setting(counts), cap=CAP)
    alone = [fit(_one_setting(counts.where(counts.setting == task)), cap=CAP) for task in range(setting.tasks)]
    return {
        "the task's own board": (
            np.stack([each.rating for each in alone]),
            np.stack([each.difference_sd for each in alone]),
        ),
        "the board of all tasks": (
            np.stack([whole.rating] * setting.tasks),
            np.stack([whole.difference_sd] * setting.tasks),
        ),
    }


def _one_setting(counts: Counts) -> Counts:
    columns = Columns(counts.left, counts.right, counts.voter, 0 * counts.setting, counts.day, counts.outcomes)
    return Counts.of(counts.names, columns)


def _said(mean: Floats, deviation: Floats, true: Floats) -> Said:
    one, other = np.triu_indices(mean.shape[1], 1)
    difference, sd = (mean[:, one] - mean[:, other]).ravel(), deviation[:, one, other].ravel()
    gap = (true[:, one] - true[:, other]).ravel()
    beliefs = [DifferenceBelief(abs(d), s) for d, s in zip(difference.tolist(), sd.tolist(), strict=True)]
    half_width = np.array([belief.high - belief.mean for belief in beliefs])
    return Said(
        np.array([belief.chance for belief in beliefs]),
        np.sign(gap) == np.sign(difference),
        np.abs(difference - gap) <= half_width,
        half_width,
    )


def _uneven(size: int, rng: np.random.Generator) -> Floats:
    """(size,) chances, lognormal."""
    found = rng.lognormal(0.0, 1.0, size)
    chances: Floats = found / found.sum()
    return chances
