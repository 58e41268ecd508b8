"""Boards of what physics measured: how often a policy reached the goal, and how near it came. No Django.

Every episode whose instruction has a known goal counts, whoever voted what, or nobody. Pairs are drawn before the
instruction is known, so that all policies meet the same mix of tasks in the long run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, TypedDict

from policies.measured import wilson

Z = 1.959963984540054
ALL_TASKS = "all"


class Played(NamedTuple):
    """Sums over the episodes of one policy and task. `progress` and `squares`: of progress (0..1) and its square."""

    policy: str
    task: str
    episodes: int
    successes: int
    progress: float
    squares: float


class PhysicsRow(TypedDict):
    """`low`, `high`: 95 % Wilson interval of the success rate. `progress`: mean of the best progress, 0 to 1, with its
    95 % interval; with one episode the interval is all that is possible."""

    model_id: str
    rank: int
    episodes: int
    successes: int
    rate: float
    low: float
    high: float
    progress: float
    progress_low: float
    progress_high: float


def boards(played: Iterable[Played]) -> dict[str, list[PhysicsRow]]:
    """Task (ALL_TASKS first) -> its policies, best first: by success rate, then progress, then name."""
    sums: dict[str, dict[str, Played]] = {ALL_TASKS: {}}
    for each in played:
        for task in (ALL_TASKS, each.task):
            own = sums.setdefault(task, {})
            own[each.policy] = _added(own.get(each.policy), each._replace(task=task))
    return {task: _ranked(list(own.values())) for task, own in sorted(sums.items(), key=_all_first)}


def _all_first(entry: tuple[str, object]) -> tuple[bool, str]:
    return entry[0] != ALL_TASKS, entry[0]


def _added(one: Played | None, other: Played) -> Played:
    if one is None:
        return other
    return Played(
        one.policy,
        one.task,
        one.episodes + other.episodes,
        one.successes + other.successes,
        one.progress + other.progress,
        one.squares + other.squares,
    )


def _ranked(rows: list[Played]) -> list[PhysicsRow]:
    """Equal rates share a rank, and the ranks after them are skipped."""
    found = sorted(
        (_row(each) for each in rows if each.episodes),
        key=lambda row: (-row["rate"], -row["progress"], row["model_id"]),
    )
    for row in found:
        row["rank"] = 1 + sum(other["rate"] > row["rate"] for other in found)
    return found


def _row(sums: Played) -> PhysicsRow:
    low, high = wilson(sums.successes, sums.episodes)
    mean = sums.progress / sums.episodes
    progress_low, progress_high = _mean_interval(mean, sums)
    return {
        "model_id": sums.policy,
        "rank": 0,
        "episodes": sums.episodes,
        "successes": sums.successes,
        "rate": round(sums.successes / sums.episodes, 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "progress": round(mean, 4),
        "progress_low": round(progress_low, 4),
        "progress_high": round(progress_high, 4),
    }


def _mean_interval(mean: float, sums: Played) -> tuple[float, float]:
    """Normal interval of a mean within 0..1, its variance shrunk towards the largest possible one (1/4) by one episode:
    ten equal values are not ten values without doubt."""
    n = sums.episodes
    spread = max(0.0, sums.squares - n * mean * mean)
    variance = (spread + 0.25) / n
    half_width = Z * math.sqrt(variance / n)
    return max(0.0, mean - half_width), min(1.0, mean + half_width)
