"""Boards of success rates: how often a contestant reached the goal, and how near it came. No Django.

Contestants stand in the order of the lower end of their success rate's interval: what is known to be reached at least.
A contestant with one lucky episode has a rate of 1 and a lower end of 0.21.

The board of all tasks is the mean over tasks, each weighing alike, so that nobody leads by having been drawn for the
easy ones. The interval of the mean is put together from those of the tasks (G. Zou, W. Huang, X. Zhang, A note on
confidence interval estimation for a linear function of binomial proportions, Comput. Stat. Data Anal. 53, 2009):
with shares p_t and their Wilson intervals (l_t, u_t) of T tasks,

    mean p - sqrt(sum (p_t - l_t)²) / T   to   mean p + sqrt(sum (u_t - p_t)²) / T.

With one task it is Wilson's interval. docs/ranking-study.md says how often it holds the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

from proportions import wilson
from rankings.fit.student import Z

ALL_TASKS = "all"
LEAST_EPISODES = 5
"""A contestant with fewer episodes of a task has no rank on its board, nor on that of all tasks."""


class EpisodeSums(NamedTuple):
    """Sums over the episodes of one contestant and task. `progress` and `squares`: of progress (0..1) and its square.

    `episodes` ended with a known success; `failures` are attempts that broke off because the contestant failed, and are
    no episodes."""

    contestant: str
    task: str
    episodes: int
    successes: int
    progress: float
    squares: float
    failures: int = 0


class SuccessRow(TypedDict):
    """`rate`: success rate with its 95 % interval `low` to `high`, and `progress`: mean of the best progress, 0 to 1,
    with its own; on the board of all tasks both are means over tasks. `rank` is by `low`, and null below LEAST_EPISODES
    of any task of the board: `few_of` names those tasks. `failures` are attempts that broke off because the contestant
    failed; they are not among the `episodes`.
    """

    model_id: str
    rank: int | None
    episodes: int
    successes: int
    failures: int
    rate: float
    low: float
    high: float
    progress: float
    progress_low: float
    progress_high: float
    few_of: list[str]


class Share(NamedTuple):
    """Something between 0 and 1, and its 95 % interval."""

    value: float
    low: float
    high: float


ByTask = Mapping[str, Mapping[str, EpisodeSums]]
"""Task -> contestant -> its sums."""


def boards(played: Iterable[EpisodeSums]) -> dict[str, list[SuccessRow]]:
    """Task (ALL_TASKS first) -> its contestants: those with a rank, best first, then the others in the same order."""
    by_task = _by_task(played)
    together = {task: by_task[task] for task in _compared(by_task)}
    single = {task: _ranked({task: own}) for task, own in sorted(by_task.items())}
    return {ALL_TASKS: _ranked(together), **single}


def compared_tasks(played: Iterable[EpisodeSums]) -> list[str]:
    """The tasks that the board of all tasks is the mean of: those of which more than half of the contestants have
    LEAST_EPISODES; all of them as long as there is no such task. Else one episode of a rare task would leave nobody
    with a rank.
    """
    return _compared(_by_task(played))


def _by_task(played: Iterable[EpisodeSums]) -> ByTask:
    found: dict[str, dict[str, EpisodeSums]] = {}
    for each in played:
        found.setdefault(each.task, {})[each.contestant] = each
    return found


def _compared(by_task: ByTask) -> list[str]:
    contestants = {contestant for own in by_task.values() for contestant, each in own.items() if each.episodes}
    common = [
        task
        for task, own in by_task.items()
        if 2 * sum(each.episodes >= LEAST_EPISODES for each in own.values()) > len(contestants)
    ]
    return sorted(common or by_task)


def _ranked(by_task: ByTask) -> list[SuccessRow]:
    """Equal lower ends share a rank, and the ranks after them are skipped."""
    contestants = sorted({contestant for own in by_task.values() for contestant in own})
    rows = [
        _row(contestant, {task: own.get(contestant) for task, own in by_task.items()}) for contestant in contestants
    ]
    found = sorted((row for row in rows if row["episodes"]), key=_order)
    lows = [row["low"] for row in found if not row["few_of"]]
    for row in found:
        row["rank"] = None if row["few_of"] else 1 + sum(low > row["low"] for low in lows)
    return found


def _order(row: SuccessRow) -> tuple[bool, float, float, str]:
    return bool(row["few_of"]), -row["low"], -row["progress"], row["model_id"]


def _row(contestant: str, by_task: Mapping[str, EpisodeSums | None]) -> SuccessRow:
    """Over the tasks that the contestant has played."""
    here = [each for each in by_task.values() if each]
    played = [each for each in here if each.episodes]
    rate, progress = mean_share([_success(each) for each in played]), mean_share([_progress(each) for each in played])
    return {
        "model_id": contestant,
        "rank": None,
        "episodes": sum(each.episodes for each in played),
        "successes": sum(each.successes for each in played),
        "failures": sum(each.failures for each in here),
        "rate": round(rate.value, 4),
        "low": round(rate.low, 4),
        "high": round(rate.high, 4),
        "progress": round(progress.value, 4),
        "progress_low": round(progress.low, 4),
        "progress_high": round(progress.high, 4),
        "few_of": [task for task, each in by_task.items() if each is None or each.episodes < LEAST_EPISODES],
    }


def mean_share(shares: Sequence[Share]) -> Share:
    """The mean of independent shares, each weighing alike; without any, nothing is known."""
    if not shares:
        return Share(0.0, 0.0, 1.0)
    mean = sum(each.value for each in shares) / len(shares)
    below = math.hypot(*(each.value - each.low for each in shares)) / len(shares)
    above = math.hypot(*(each.high - each.value for each in shares)) / len(shares)
    return Share(mean, max(0.0, mean - below), min(1.0, mean + above))


def _success(sums: EpisodeSums) -> Share:
    return Share(sums.successes / sums.episodes, *wilson(sums.successes, sums.episodes))


def _progress(sums: EpisodeSums) -> Share:
    """Normal interval of a mean within 0..1, its variance shrunk towards the largest possible one (1/4) by one episode:
    ten equal values are not ten values without doubt."""
    n = sums.episodes
    mean = sums.progress / n
    spread = max(0.0, sums.squares - n * mean * mean)
    half_width = Z * math.sqrt((spread + 0.25) / n / n)
    return Share(mean, max(0.0, mean - half_width), min(1.0, mean + half_width))
