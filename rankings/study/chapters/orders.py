"""Whether the board of physics is led by who is best."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankings.study.chapters.form import SEED, Chapter, share, table
from rankings.study.physics import LEADS, Arena, covered, led, unequal_numbers, unequal_tasks

ARENAS: dict[str, Callable[[np.random.Generator], Arena]] = {
    "one task, 1 to 400 episodes each": unequal_numbers,
    "three tasks, 150 episodes each, mixes differ": unequal_tasks,
}
EPISODES = ((5, 5), (5, 15), (15, 60), (60, 200))
INTRODUCTION = """
## The leader of the board of success rates
Eight policies. Their abilities have a standard deviation of 0.7 in log-odds, and of 0.35 from task to task; the tasks
are easy, middling and hard by 1.5 each. The truly best policy has the best mean over tasks. *Rate* is successes by
episodes, all tasks pooled; *lower end of the rate* is that of its 95 % interval; *board* is the order of the page:
the lower end of the mean over tasks, from five episodes of each. *Short* is by how much the leader is worse than
the best.
"""


def chapter(repeats: int) -> Chapter:
    repeats *= 10
    parts = (
        f"{INTRODUCTION}{repeats} arenas.",
        _leaders(repeats),
        "How often the interval of the mean over tasks holds the truth:",
        _intervals(repeats),
    )
    return Chapter("\n\n".join(parts) + "\n", {})


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
