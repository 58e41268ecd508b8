"""Do the 95 % intervals hold the truth?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankings.fit.bradley_terry import fit
from rankings.fit.ratings import CAP
from rankings.fit.student import Z
from rankings.study.form import SEED, Chapter, percent, table
from rankings.study.plots import Axes, plot
from rankings.study.voters import Crowd, Scenario, holds, population, simulate, truth

VOTES = (100, 1000, 10_000, 100_000)
NEWCOMER = 30
UNEQUAL = 0.5
TEXT = """
## Intervals
Ten contestants; some pairs are drawn several times as often as others. Beside them, where it says so, a newcomer with
{newcomer} votes. Truth and rating are about the same mean (`rankings.fit.centre`). Wanted: 93 to 97 %; {repeats}
arenas a row, a tenth of them with 100,000 votes.

{plain}

Few voters, each with a taste of 100 points, voting on several days:

{few}

Without the corrections: with 10,000 votes of 1000 voters with tastes, {alone} of the intervals hold the truth where
votes count as independent.

![Coverage](images/study-coverage.svg)
"""


ROWS = {
    "strangers, no ties": Scenario(ties=0.0, unequal=UNEQUAL),
    "strangers": Scenario(unequal=UNEQUAL),
    "strangers, a newcomer": Scenario(unequal=UNEQUAL, newcomer=NEWCOMER),
    "tastes": Scenario(unequal=UNEQUAL, crowd=Crowd(1, 100), days=14),
    "tastes, a newcomer": Scenario(unequal=UNEQUAL, crowd=Crowd(1, 100), days=14, newcomer=NEWCOMER),
    "tastes, one voter casts 44 %": Scenario(unequal=UNEQUAL, crowd=Crowd(1, 100, 0.44), days=14),
}
"""With a voter known, there is one for every ten votes, and ten at least."""
FEW = {
    "10 voters, 1000 votes, 20 days": Scenario(votes=1000, crowd=Crowd(10, 100), unequal=UNEQUAL, days=20),
    "20 voters, 300 votes, one day": Scenario(votes=300, crowd=Crowd(20, 100), unequal=UNEQUAL),
    "20 voters, 1000 votes, one day": Scenario(votes=1000, crowd=Crowd(20, 100), unequal=UNEQUAL),
    "20 voters, 3000 votes, 30 days": Scenario(votes=3000, crowd=Crowd(20, 100), unequal=UNEQUAL, days=30),
    "60 voters, 2000 votes, 20 days": Scenario(votes=2000, crowd=Crowd(60, 100), unequal=UNEQUAL, days=20),
}


@dataclass(frozen=True)
class Coverage:
    """Share of intervals that hold the truth, over all repeats and contestants, and their mean half-width; `newcomer`:
    the same of the newcomer alone, who is not among the others. `differences`: of all pairs' differences."""

    held: float
    half_width: float
    newcomer: float
    differences: float


def coverage(setting: Scenario, *, repeats: int, seed: int, cap: int = CAP, cluster: bool = True) -> Coverage:
    """In arenas that are drawn anew each time."""
    rng = np.random.default_rng(seed)
    held, widths, apart = [], [], []
    for _ in range(repeats):
        theta = truth(setting.contestants + (setting.newcomer > 0), rng)
        found = fit(simulate(theta, setting, rng), cap=cap, cluster=cluster)
        true = population(theta, setting.crowd.taste)
        held.append(holds(found, true))
        widths.append(found.half_width)
        error = np.abs(np.subtract.outer(found.rating, found.rating) - np.subtract.outer(true, true))
        apart.append((error <= Z * found.difference_sd)[np.triu_indices(len(theta), 1)])
    old, inside = slice(0, setting.contestants), np.array(held)
    newcomer = float(inside[:, setting.contestants :].mean()) if setting.newcomer else float("nan")
    return Coverage(
        float(inside[:, old].mean()), float(np.array(widths)[:, old].mean()), newcomer, float(np.mean(apart))
    )


def chapter(repeats: int) -> Chapter:
    rows = {(name, votes): _of(setting, votes, repeats) for name, setting in ROWS.items() for votes in VOTES}
    few = {name: coverage(setting, repeats=repeats, seed=SEED) for name, setting in FEW.items()}
    tastes = replace(ROWS["tastes"], votes=10_000, crowd=Crowd(1000, 100))
    alone = coverage(tastes, repeats=repeats, seed=SEED, cap=0, cluster=False)
    heads = ["votes by", "votes", "held", "the newcomer", "differences", "mean half-width"]
    text = TEXT.format(
        repeats=repeats,
        newcomer=NEWCOMER,
        plain=table(heads, [[name, f"{votes:,}", *_cells(found)] for (name, votes), found in rows.items()]),
        few=table(["voters and votes", *heads[2:]], [[name, *_cells(found)] for name, found in few.items()]),
        alone=percent(alone.held),
    )
    return Chapter(text, {"study-coverage.svg": _drawing(rows)})


def _of(setting: Scenario, votes: int, repeats: int) -> Coverage:
    crowd = replace(setting.crowd, voters=max(10, votes // 10) if setting.crowd.voters else 0)
    number = max(3, repeats // 10) if votes > 10_000 else repeats
    return coverage(replace(setting, votes=votes, crowd=crowd), repeats=number, seed=SEED)


def _cells(found: Coverage) -> list[str]:
    newcomer = "" if np.isnan(found.newcomer) else percent(found.newcomer)
    return [percent(found.held), newcomer, percent(found.differences), f"{found.half_width:.1f}"]


def _drawing(rows: dict[tuple[str, int], Coverage]) -> str:
    series: dict[str, list[tuple[float, float]]] = {}
    for (name, votes), found in rows.items():
        series.setdefault(name, []).append((float(np.log10(votes)), 100 * found.held))
    axes = Axes(
        "How often the 95 % interval holds the truth",
        "votes",
        "per cent",
        (1.8, 5.2),
        (88, 100),
        {float(np.log10(votes)): f"{votes:,}" for votes in VOTES},
        [88, 90, 93, 95, 97, 100],
    )
    return plot(axes, series, band=(93, 97))
