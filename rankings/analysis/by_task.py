"""What each contestant can do at each task, from all votes of a setting at once. Numbers in, numbers out, no Django.

The ability of contestant p at task t is theta_p + offset_pt: theta ~ N(0, spread²), offset ~ N(0, offset²), so that the
abilities of a contestant at T tasks have the covariance spread² 11^T + offset² I. The votes of each task add their
likelihood, and the mode with the curvature about it (Laplace) is the posterior of all of them jointly. So a task's few
votes are helped by those on other tasks, as far as tasks are alike, and no vote counts twice. Votes without a task are
a task of their own.

The two spreads are the likeliest on a grid, by Laplace's marginal likelihood and a broad prior about 150 and 100 points
(empirical Bayes; B. Efron, C. Morris, Stein's estimation rule and its competitors, JASA 68 (1973)). The variance of a
difference is the widest of the posterior's and of two sandwiches, in which the votes of a voter, or of a network, are
correlated (P. Huber 1967; K.-Y. Liang, S. Zeger 1986).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict

import numpy as np

from rankings.fit.bradley_terry import SCALE
from rankings.fit.graph import diagonal_blocks, groups, reachability
from rankings.fit.matrices import inverse, sandwich
from rankings.fit.posterior import Games, Posterior, assembled, by_contestant, likeliest
from rankings.fit.sandwich import gradients_of_voters, variance_of_differences
from rankings.tally.arrays import Floats, Integers, Narrow, in_chunks, kept, narrowed, replaced, taken
from rankings.tally.counts import MIRRORED, OUTCOMES, Counts

SPREAD, OFFSET = 150.0, 100.0
"""Elo points: where nothing is known of them, the spread of contestants, and how far a contestant's ability at one task
lies from its ability in general. OFFSET is what boards of several settings suppose (decision: ratings)."""
SPREADS = (40.0, 60.0, 100.0, 150.0, 225.0, 340.0, 500.0)
OFFSETS = (10.0, 25.0, 40.0, 60.0, 100.0, 150.0, 225.0, 340.0)
DOUBT = math.log(2.0)
"""Standard deviation of the logarithm of either spread, before any vote."""
GRID_SIZE = 1000
"""With more contestants times tasks the spreads are not fitted: each fit would take a second where all have votes."""


class ByTask(TypedDict):
    """`groups`: contestants with the same number are connected by votes, directly or through others. `offset` [Elo
    points]: the standard deviation of a contestant's ability at one task about its ability in general, as the votes
    show it. `tasks`: by task, "" being votes without one."""

    names: list[str]
    groups: list[int]
    offset: float
    tasks: dict[str, Abilities]


class Abilities(TypedDict):
    """Of one task. `ratings` [Elo points] in the order of `names`; only their differences mean something.
    `deviations[i][j]`: standard deviation of the difference of i and j, for j < i. `records`: of each two contestants,
    in the order of their names, how the votes on them went, columns as in OUTCOMES, the first being on the left."""

    ratings: list[float]
    deviations: list[list[float]]
    records: dict[str, dict[str, list[int]]]


@dataclass(frozen=True)
class Prior:
    """Standard deviations in natural units: of contestants, and of a contestant's tasks about it."""

    spread: float
    offset: float

    @classmethod
    def of_points(cls, spread: float = SPREAD, offset: float = OFFSET) -> Prior:
        return cls(spread / SCALE, offset / SCALE)

    def covariance(self, tasks: int) -> Floats:
        """(tasks, tasks) of one contestant's abilities."""
        return self.spread**2 + self.offset**2 * np.eye(tasks, dtype=np.float64)

    def log_density(self) -> float:
        """How likely these spreads are before any vote, up to a constant."""
        usual = Prior.of_points()
        ratios = (self.spread / usual.spread, self.offset / usual.offset)
        return -sum(math.log(ratio) ** 2 for ratio in ratios) / (2.0 * DOUBT**2)


@dataclass(frozen=True)
class Joint:
    """Votes of several tasks, each task's contestants as contestants of their own, and what is supposed of all
    together.

    x (n,) are abilities in natural units, task by task, n = tasks times contestants.
    """

    games: Games
    tasks: int
    prior: Prior

    @cached_property
    def precision(self) -> Floats:
        """(n, n) what the prior adds to the negative Hessian."""
        contestants = len(self.games.played) // self.tasks
        return np.kron(inverse(self.prior.covariance(self.tasks)), np.eye(contestants)).astype(float, copy=False)

    @cached_property
    def _votes(self) -> Posterior:
        """The votes alone: without a prior."""
        return Posterior(self.games, 0.0, np.zeros((len(self.games.played),) * 2, dtype=bool))

    def log_density(self, x: Floats) -> float:
        return self._votes.log_density(np.append(x, 0.0)) - 0.5 * float(x @ self.precision @ x)

    def hessian(self, x: Floats) -> Floats:
        """(n, n) of minus the log density."""
        return self.games.information_matrix(np.append(x, 0.0)) + self.precision

    def mode(self, start: Floats) -> Floats:
        """(n,)"""

        def step(x: Floats) -> Floats:
            slope = self._votes.gradient(np.append(x, 0.0)) - self.precision @ x
            return np.linalg.solve(self.hessian(x), slope).astype(float, copy=False)

        return likeliest(start, self.log_density, step)

    def evidence(self, x: Floats) -> float:
        """Logarithm of the marginal likelihood of the votes at the mode x, by Laplace, times the prior's density."""
        contestants = len(x) // self.tasks
        volume = (
            np.linalg.slogdet(self.hessian(x))[1]
            + contestants * np.linalg.slogdet(self.prior.covariance(self.tasks))[1]
        )
        return self.log_density(x) - 0.5 * float(volume) + self.prior.log_density()


@dataclass(frozen=True)
class TaskFit:
    """Abilities of `names` at `tasks`, in Elo points."""

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    prior: Prior
    group: Integers
    """(k,) contestants with the same label are connected by votes on any task."""
    mean: Floats
    """(tasks, k)"""
    deviation: Floats
    """(tasks, k, k) standard deviation of the difference of two."""


def fit_tasks(counts: Counts, tasks: Sequence[str], *, cap: int = 0, prior: Prior | None = None) -> TaskFit:
    """`counts`: of one setting, with the number of a task in `tasks` where boards have the setting's. `cap`: as in
    `bradley_terry.fit`, over all tasks together. `prior`: None for the likeliest one."""
    votes = counts.without_sides()
    weights = votes.weights(cap)
    everywhere = max(1, len(tasks))
    number = min(everywhere, counts.settings + 1)  # tasks without a vote are alike: one of them stands for all
    apart = _apart(votes, number)
    games = Games.of(apart, weights)
    if prior is None and len(counts.names) * everywhere <= GRID_SIZE:
        joint, x = _likeliest(games, number)
    else:
        joint, x = _at(games, number, prior or Prior.of_points())
    covariances = _covariances(joint, x, apart, weights)
    variances = [variance_of_differences(diagonal_blocks(each, number)) for each in covariances]
    met = np.any(diagonal_blocks(games.met, number), axis=0)
    like = np.minimum(np.arange(everywhere), number - 1)
    return TaskFit(
        counts.names,
        tuple(tasks),
        joint.prior,
        groups(reachability(met)),
        SCALE * x.reshape(number, -1)[like],
        SCALE * np.sqrt(np.max(variances, axis=0))[like],
    )


def published(found: TaskFit, counts: Counts) -> ByTask:
    by_task = _records_by_task(counts)
    return {
        "names": list(found.names),
        "groups": found.group.tolist(),
        "offset": round(found.prior.offset * SCALE),
        "tasks": {
            task: {
                "ratings": np.round(found.mean[place], 1).tolist(),
                "deviations": [np.round(row[:at], 1).tolist() for at, row in enumerate(found.deviation[place])],
                "records": by_task[place] if place < len(by_task) else {},
            }
            for place, task in enumerate(found.tasks)
        },
    }


def records(counts: Counts) -> dict[str, dict[str, list[int]]]:
    """As `Abilities` has them."""
    return _records(counts.names, counts.per_pair())


def _records_by_task(counts: Counts) -> list[dict[str, dict[str, list[int]]]]:
    """By number; of tasks with votes."""
    tasks, size = counts.settings, len(counts.names)
    pairs = _apart(counts, tasks).per_pair().reshape(tasks, size, tasks, size, len(OUTCOMES))
    return [_records(counts.names, pairs[task, :, task]) for task in range(tasks)]


def _records(names: Sequence[str], pairs: Integers) -> dict[str, dict[str, list[int]]]:
    """Of `Counts.per_pair`."""
    both = np.triu((pairs + pairs.transpose(1, 0, 2)[:, :, MIRRORED]).transpose(2, 0, 1)).transpose(1, 2, 0)
    found: dict[str, dict[str, list[int]]] = {}
    for low, high in np.argwhere(both.any(axis=2)).tolist():
        found.setdefault(names[low], {})[names[high]] = both[low, high].tolist()
    return found


def _apart(votes: Counts, tasks: int) -> Counts:
    """A contestant at each task as a contestant of its own; a task at the end may have no vote."""
    setting, size = kept(votes, "setting"), len(votes.names)

    def moved(side: str) -> Narrow:
        at = kept(votes, side)
        return in_chunks(len(at), lambda rows: size * setting[rows].astype(np.int64) + at[rows])

    return replaced(votes, names=votes.names * tasks, left=moved("left"), right=moved("right"))


def _at(games: Games, tasks: int, prior: Prior, start: Floats | float = 0.0) -> tuple[Joint, Floats]:
    joint = Joint(games, tasks, prior)
    return joint, joint.mode(np.zeros(len(games.played)) + start)


def _likeliest(games: Games, tasks: int) -> tuple[Joint, Floats]:
    """With the likeliest offset, then the likeliest spread, of those on the grid."""
    best = _at(games, tasks, Prior.of_points())
    if not games.played.any():
        return best
    for candidates in (
        [(SPREAD, offset) for offset in OFFSETS] if tasks > 1 else [],
        [(spread, 0.0) for spread in SPREADS],
    ):
        start, offset = best[1], best[0].prior.offset * SCALE
        tried = [_at(games, tasks, Prior.of_points(spread, own or offset), start) for spread, own in candidates]
        best = max([best, *tried], key=lambda each: each[0].evidence(each[1]))
    return best


def _covariances(joint: Joint, x: Floats, apart: Counts, weights: Floats) -> list[Floats]:
    """(n, n) of x: the posterior's, and those in which a voter's or a network's votes are correlated."""
    bread = inverse(joint.hessian(x))
    found = [bread]
    for votes in (apart, apart.by_network()):
        if votes is not None and votes.voters > 1:
            found.append(sandwich(bread, _meat(joint, x, votes, weights) + joint.precision))
    return found


def _meat(joint: Joint, x: Floats, votes: Counts, weights: Floats) -> Floats:
    """(n, n) variance of the votes' gradient; voters whom nobody knows are one person per vote. Where a contestant has
    no vote at a task its gradient is 0: most of x, where few tasks have votes yet."""
    whole = np.zeros((len(x), len(x)))
    voted = np.flatnonzero(by_contestant(joint.games.played))
    whole[np.ix_(voted, voted)] = _dense_meat(joint.games.nu, x[voted], _only(votes, voted), weights)
    return whole


def _only(votes: Counts, voted: Integers) -> Counts:
    """The same votes, with numbers for some contestants alone, those `voted` (m,), sorted."""
    names = tuple(votes.names[place] for place in voted.tolist())
    place = np.zeros(len(votes.names), np.int64)
    place[voted] = np.arange(len(voted))
    left, right = (taken(narrowed(place), kept(votes, side)) for side in ("left", "right"))
    return replaced(votes, names=names, left=left, right=right)


def _dense_meat(nu: float, x: Floats, votes: Counts, weights: Floats) -> Floats:
    """(m, m) see `_meat`; every contestant has a vote."""
    known, at, voters = kept(votes, "voter") >= 0, np.append(x, 0.0), votes.voters
    games = replace(Games.of(votes, weights), nu=nu)
    meat = np.zeros((len(x), len(x)))
    if not known.all():
        meat = assembled(Games.of(votes.where(~known), weights[~known]).squared_residuals(at))[:-1, :-1]
        votes, weights = votes.where(known), weights[known]
    for gradients in gradients_of_voters(votes, weights, games, at):
        meat += voters / (voters - 1.0) * (gradients.T @ gradients)
    return meat
