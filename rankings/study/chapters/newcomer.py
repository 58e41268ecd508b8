"""How soon the place of a new policy is known."""

from __future__ import annotations

import numpy as np

from rankings.study.chapters.form import Chapter
from rankings.study.plots import Axes, plot
from rankings.study.voters import newcomer


def chapter(repeats: int) -> Chapter:
    seeds = range(min(repeats, 40))
    series, rows = {}, []
    for name, planned in (("planned pairs", True), ("all pairs alike", False)):
        widths = np.array([newcomer(planned=planned, seed=seed) for seed in seeds])
        votes = 20 * np.arange(widths.shape[1])
        reached = [int(votes[np.argmax(each < 60)]) if (each < 60).any() else 0 for each in widths]
        within = np.mean([0 < each <= 260 for each in reached])
        rows.append(f"| {name} | {np.median(widths, axis=0)[13]:.0f} | {100 * within:.0f} % |")
        series[name] = [(float(x), float(y)) for x, y in zip(votes, np.median(widths, axis=0), strict=True) if x]
    axes = Axes(
        "A newcomer beside nine: median half-width",
        "votes cast on the board since it came",
        "points",
        (0, 400),
        (0, 250),
        {float(value): f"{value}" for value in range(0, 401, 100)},
        [0, 60, 100, 150, 200, 250],
    )
    head = "| pairs | median half-width after 260 votes | of arenas: 60 reached within 260 |\n|---|---|---|\n"
    text = (
        "\n## A newcomer\nNine policies have had 2000 votes, a tenth joins. The table counts all votes on the\n"
        f"board from then on; pairs are planned anew every 20. {len(seeds)} arenas.\n\n{head}"
        + "\n".join(rows)
        + "\n\n![Newcomer](images/study-newcomer.svg)\n"
    )
    return Chapter(text, {"study-newcomer.svg": plot(axes, series)})
