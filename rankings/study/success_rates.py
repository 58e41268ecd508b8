"""Who leads the board of success rates, and do its intervals hold?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from proportions import wilson
from rankings.analysis.success_rates import ALL_TASKS, LEAST_EPISODES, EpisodeSums, boards
from rankings.study.form import SEED, Chapter, share, table
from rankings.tally.arrays import Floats, Integers

CONTESTANTS = 8
EASE = (1.5, 0.0, -1.5)
"""How easy the tasks are, in units of log-odds."""
SPREAD = 0.7
"""Standard deviation of what contestants can do, in the same units."""


class Arena(NamedTuple):
    """`truth` (contestants, tasks) how often each reaches the goal; `episodes` and `successes` of the same shape."""

    truth: Floats
    episodes: Integers
    successes: Integers

    @property
    def goal(self) -> Floats:
        """(contestants,) the mean over tasks, each weighing alike."""
        found: Floats = self.truth.mean(axis=1)
        return found

    def played(self) -> list[EpisodeSums]:
        """As the board takes them; progress is not looked at."""
        cells = zip(np.ndindex(self.truth.shape), self.episodes.flat, self.successes.flat, strict=True)
        return [
            EpisodeSums(f"{contestant:02}", f"{task}", int(episodes), int(successes), 0.0, 0.0)
            for (contestant, task), episodes, successes in cells
        ]


def unequal_numbers(rng: np.random.Generator) -> Arena:
    """One task; a contestant has between 1 and 400 episodes, as many contestants between 1 and 10 as between 40 and
    400."""
    episodes = np.exp(rng.uniform(0.0, np.log(400.0), (CONTESTANTS, 1))).astype(np.int64)
    return _drawn(rng, EASE[1:2], episodes)


def unequal_tasks(rng: np.random.Generator) -> Arena:
    """Three tasks, easy to hard, of which each contestant meets a mix of its own, any mix being as likely as any
    other."""
    mixes = rng.dirichlet(np.ones(len(EASE)), CONTESTANTS)
    return _drawn(rng, EASE, np.stack([rng.multinomial(150, mix) for mix in mixes]))


def _drawn(rng: np.random.Generator, ease: Sequence[float], episodes: Integers) -> Arena:
    """What a contestant can do differs from task to task by half of what contestants differ."""
    shape = episodes.shape
    skill = rng.normal(0.0, SPREAD, (shape[0], 1)) + rng.normal(0.0, SPREAD / 2.0, shape)
    truth = 1.0 / (1.0 + np.exp(-(skill + np.array(ease))))
    return Arena(truth, episodes, rng.binomial(episodes, truth))


def by_rate(arena: Arena) -> int:
    """Who has most successes in proportion to all episodes; of equals the first."""
    return int(np.argmax(arena.successes.sum(axis=1) / np.maximum(1, arena.episodes.sum(axis=1))))


def by_lower_end(arena: Arena) -> int:
    """The same by the lower end of Wilson's interval, tasks thrown together."""
    sums = zip(arena.successes.sum(axis=1).tolist(), arena.episodes.sum(axis=1).tolist(), strict=True)
    return int(np.argmax([wilson(successes, episodes)[0] if episodes else 0.0 for successes, episodes in sums]))


def by_board(arena: Arena) -> int:
    """The first of the board of all tasks."""
    return int(boards(arena.played())[ALL_TASKS][0]["model_id"])


LEADS: Mapping[str, Callable[[Arena], int]] = {
    "rate": by_rate,
    "lower end of the rate": by_lower_end,
    "board": by_board,
}
"""Ways to say who leads."""


class Led(NamedTuple):
    """`best`: in how many arenas the truly best contestant led; `short`: by how much the leader is worse than it, on
    average over all arenas; `far`: in how many by more than 0.1."""

    best: int
    short: float
    far: int


def led(make: Callable[[np.random.Generator], Arena], lead: Callable[[Arena], int], repeats: int, seed: int) -> Led:
    short = []
    for number in range(repeats):
        arena = make(np.random.default_rng([seed, number]))
        short.append(float(arena.goal.max() - arena.goal[lead(arena)]))
    gaps = np.array(short)
    return Led(int((gaps == 0.0).sum()), float(gaps.mean()), int((gaps > 0.1).sum()))


def covered(least: int, most: int, repeats: int, seed: int) -> int:
    """In how many arenas the interval of all tasks holds the truth, with `least` to `most` episodes of each task."""
    held = 0
    for number in range(repeats):
        rng = np.random.default_rng([seed, number])
        arena = _drawn(rng, EASE, rng.integers(max(least, LEAST_EPISODES), most + 1, (1, len(EASE))))
        (row,) = boards(arena.played())[ALL_TASKS]
        held += row["low"] <= arena.goal[0] <= row["high"]
    return held


ARENAS: dict[str, Callable[[np.random.Generator], Arena]] = {
    "one task, 1 to 400 episodes each": unequal_numbers,
    "three tasks, 150 episodes each, mixes differ": unequal_tasks,
}
EPISODES = ((5, 5), (5, 15), (15, 60), (60, 200))
INTRODUCTION = """
## The leader of the board of success rates
Eight contestants. Their abilities have a standard deviation of 0.7 in log-odds, and of 0.35 from task to task; the
tasks are easy, middling and hard by 1.5 each. The truly best contestant has the best mean over tasks. *Rate* is
successes by episodes, all tasks pooled; *lower end of the rate* is that of its 95 % interval; *board* is the order of
the page: the lower end of the mean over tasks, from five episodes of each. *Short* is by how much the leader is worse
than the best.
"""


def chapter(repeats: int) -> Chapter:
    repeats *= 10
    parts = (
        f"{INTRODUCTION}{repeats} arenas.",
        _leaders(repeats),
        "How often the interval of the mean over tasks holds the truth:",
        _intervals(repeats),
    )
    return Chapter("\n\n".join(parts) + "\n")


def _leaders(repeats: int) -> str:
    rows = []
    for arena, make in ARENAS.items():
        for name, lead in LEADS.items():
            found = led(make, lead, repeats, SEED)
            short = f"{100 * found.short:.1f} points"
            rows.append((arena, name, share(found.best, repeats), short, share(found.far, repeats)))
    return table(("arena", "order by", "the best leads", "short, mean", "short by more than 10 points"), rows)


def _intervals(repeats: int) -> str:
    rows = [
        (str(least) if least == most else f"{least} to {most}", share(covered(least, most, repeats, SEED), repeats))
        for least, most in EPISODES
    ]
    return table(("episodes of each of three tasks", "holds the truth"), rows)
