"""One visitor who votes again and again."""

from __future__ import annotations

import numpy as np

from rankings.plots import Axes, plot
from rankings.ratings import CAP
from rankings.studies.chapters.form import Chapter
from rankings.studies.voters import stuffing

CAPS = (0, 50, 30, 20, 15, 10)


def chapter(repeats: int) -> Chapter:
    seeds = range(min(repeats, 40))
    moved = {cap: [stuffing(honest=4000, stuffed=250, cap=cap, seed=seed) for seed in seeds] for cap in CAPS}
    rows = [f"| {cap or 'none'} | {np.mean(each):.1f} | {max(each):.1f} |" for cap, each in moved.items()]
    table = "\n".join(["| cap | mean | most |", "|---|---|---|", *rows])
    series = {"most": [(float(cap), max(each)) for cap, each in moved.items() if cap]}
    axes = Axes(
        "250 stuffed votes: how far a rating moves",
        "cap: counted votes per voter, board and day",
        "points",
        (0, 55),
        (0, 30),
        {float(cap): f"{cap}" for cap in CAPS if cap},
        [0, 10, 20, 30],
    )
    text = (
        "\n## A stuffer\nOne visitor votes 250 times in a day for one policy, beside 4000 honest votes on ten. Points\n"
        f"by which the most moved rating moves, over {len(seeds)} arenas; wanted: at most 10 with the published cap of"
        f"\n{CAP}.\n\n{table}\n\n![Stuffing](images/study-stuffing.svg)\n\n"
        "The cap is per day. Who spreads 250 votes over\n"
        "seventeen days has them all counted; the test for outliers and the influence report are there for that.\n"
    )
    return Chapter(text, {"study-stuffing.svg": plot(axes, series, band=(0, 10))})
