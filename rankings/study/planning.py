"""How soon the place of a new contestant is known, and how well few votes order some contestants."""

from __future__ import annotations

import numpy as np

from rankings.fit.bradley_terry import Fit, fit
from rankings.fit.pairing import Belief, plan
from rankings.study.form import SEED, Chapter, table
from rankings.study.plots import Axes, plot
from rankings.study.voters import (
    TIES,
    Scenario,
    columns,
    counted,
    joined,
    outcomes,
    rank_correlation,
    simulate,
    truth,
)
from rankings.tally.arrays import Floats
from rankings.tally.counts import Columns, Counts

EVERY = 20
"""Votes from one plan to the next."""
WAYS = {"planned pairs": True, "all pairs alike": False}


def newcomer(*, planned: bool, seed: int, most: int = 400) -> Floats:
    """(most / EVERY + 1,) the newcomer's half-width after every EVERY votes on the board of nine that it joins.

    `planned`: pairs as `rankings.fit.pairing` plans them; else all alike.
    """
    rng = np.random.default_rng(seed)
    theta = truth(10, rng)
    votes = _spread_out(simulate(theta[:9], Scenario(votes=2000), rng))
    widths = []
    for _ in range(0, most + 1, EVERY):
        found = fit(counted(10, votes))
        widths.append(float(found.half_width[-1]))
        votes = joined(votes, _next_votes(theta, found, planned, rng))
    return np.array(widths)


def spearman(*, contestants: int, votes: int, repeats: int, seed: int, planned: bool = True) -> tuple[float, float]:
    """Mean rank correlation of ratings with the truth, and the half-width of that mean's 95 % interval.

    `planned`: as in `newcomer`, from the first vote on.
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        theta = truth(contestants, rng)
        board = fit(counted(contestants, columns(*np.zeros((3, 0), np.int64))))
        parts: list[Columns] = []
        for _ in range(0, votes, EVERY):
            parts.append(_next_votes(theta, board, planned, rng))
            board = fit(counted(contestants, joined(*parts)))
        found.append(rank_correlation(theta, board.rating))
    return float(np.mean(found)), float(1.96 * np.std(found) / np.sqrt(repeats))


def _next_votes(theta: Floats, found: Fit, planned: bool, rng: np.random.Generator) -> Columns:
    chances = plan(Belief(found.names, found.rating, found.posterior), found.names, EVERY, 0.2 if planned else 1.0)
    pairs = np.array([(found.names.index(one), found.names.index(other)) for one, other in chances])
    left, right = pairs[rng.choice(len(pairs), EVERY, p=np.array(list(chances.values())))].T
    return columns(left, right, outcomes(theta[left] - theta[right], TIES, rng))


def _spread_out(counts: Counts) -> Columns:
    """One row per vote."""
    row, outcome = np.nonzero(counts.outcomes)
    place = np.repeat(np.arange(len(row)), counts.outcomes[row, outcome])
    return columns(counts.left[row][place], counts.right[row][place], outcome[place])


def newcomer_chapter(repeats: int) -> Chapter:
    seeds = range(min(repeats, 40))
    series, rows = {}, []
    for name, planned in WAYS.items():
        widths = np.array([newcomer(planned=planned, seed=seed) for seed in seeds])
        votes, median = EVERY * np.arange(widths.shape[1]), np.median(widths, axis=0)
        first = np.where((widths < 60).any(axis=1), votes[np.argmax(widths < 60, axis=1)], 0)
        within = np.mean((first > 0) & (first <= 260))
        rows.append((name, f"{median[13]:.0f}", f"{100 * within:.0f} %"))
        series[name] = list(zip(votes[1:].tolist(), median[1:].tolist(), strict=True))
    axes = Axes(
        "A newcomer beside nine: median half-width",
        "votes cast on the board since it came",
        "points",
        (0, 400),
        (0, 250),
        {float(value): f"{value}" for value in range(0, 401, 100)},
        [0, 60, 100, 150, 200, 250],
    )
    heads = ("pairs", "median half-width after 260 votes", "of arenas: 60 reached within 260")
    text = (
        "\n## A newcomer\nNine contestants have had 2000 votes, a tenth joins. The table counts all votes on the\n"
        f"board from then on; pairs are planned anew every {EVERY}. {len(seeds)} arenas.\n\n{table(heads, rows)}"
        "\n\n![Newcomer](images/study-newcomer.svg)\n"
    )
    return Chapter(text, {"study-newcomer.svg": plot(axes, series)})


def order_chapter(repeats: int) -> Chapter:
    rows = []
    for name, planned in WAYS.items():
        mean, doubt = spearman(contestants=7, votes=200, repeats=repeats, seed=SEED, planned=planned)
        rows.append((name, f"{mean:.3f} ± {doubt:.3f}"))
    return Chapter(
        "\n## The order\nSeven contestants, 200 votes: Spearman's correlation of ratings with the truth,\n"
        "and how well its mean is known from these arenas. Wanted: 0.93.\n\n"
        f"{table(('pairs', 'mean rank correlation'), rows)}\n"
    )
