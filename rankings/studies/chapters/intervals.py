"""Do the 95 % intervals hold the truth?"""

from __future__ import annotations

import numpy as np

from rankings.plots import Axes, plot
from rankings.studies.chapters.form import SEED, Chapter
from rankings.studies.voters import Coverage, Crowd, Setting, coverage

VOTES = (100, 300, 1000, 10_000)
TASTE, HEAVY = Crowd(1000, 100), Crowd(1000, 100, 0.44)


def chapter(repeats: int) -> Chapter:
    plain = {votes: coverage(Setting(votes=votes, ties=0.0), repeats=repeats, seed=SEED) for votes in VOTES}
    tied = {votes: coverage(Setting(votes=votes), repeats=repeats, seed=SEED) for votes in VOTES}
    own = {votes: _with(TASTE, votes, repeats) for votes in (1000, 10_000)}
    heavy = {votes: _with(HEAVY, votes, repeats) for votes in (1000, 10_000)}
    open_to = coverage(Setting(votes=10_000, crowd=HEAVY), repeats=repeats, seed=SEED, cap=0)
    alone = coverage(Setting(votes=10_000, crowd=TASTE), repeats=repeats, seed=SEED, cap=0, cluster=False)
    rows = [
        *(("no ties, all voters different", votes, found) for votes, found in plain.items()),
        *(("ties, all voters different", votes, found) for votes, found in tied.items()),
        *(("voters with a taste", votes, found) for votes, found in own.items()),
        *(("the same, one voter casting 44 %", votes, found) for votes, found in heavy.items()),
        ("the same without a cap", 10_000, open_to),
        ("voters with a taste, each vote for itself", 10_000, alone),
    ]
    lines = [f"| {name} | {votes} | {_percent(found)} | {found.half_width:.0f} |" for name, votes, found in rows]
    table = "\n".join(["| votes by | votes | held | mean half-width |", "|---|---|---|---|", *lines])
    series = {
        "no ties": _points(plain),
        "ties": _points(tied),
        "taste, one voter casts 44 %": _points(heavy),
    }
    axes = Axes(
        "How often the 95 % interval holds the truth",
        "votes",
        "per cent",
        (1.8, 4.2),
        (88, 100),
        {float(np.log10(votes)): f"{votes}" for votes in VOTES},
        [88, 90, 93, 95, 97, 100],
    )
    drawing = plot(axes, series, band=(93, 97))
    text = f"\n## Intervals\nTen policies. Wanted: 93 to 97 %.\n\n{table}\n\n![Coverage](images/study-coverage.svg)\n"
    return Chapter(text, {"study-coverage.svg": drawing})


def _with(crowd: Crowd, votes: int, repeats: int) -> Coverage:
    of_that_size = Crowd(max(10, crowd.voters * votes // 10_000), crowd.taste, crowd.heavy)
    return coverage(Setting(votes=votes, crowd=of_that_size), repeats=repeats, seed=SEED)


def _percent(found: Coverage) -> str:
    return f"{100 * found.held:.1f} %"


def _points(found: dict[int, Coverage]) -> list[tuple[float, float]]:
    return [(float(np.log10(votes)), 100 * each.held) for votes, each in found.items()]
