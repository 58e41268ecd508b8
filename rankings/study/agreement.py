"""Do the intervals of the agreement of votes and success hold, when voters differ?

Each side of a battle reaches its goal with its contestant's chance. Voters have tastes, care for success more or less,
and say even more or less often; they all differ in that, and how much each votes is lognormal."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from rankings.analysis.agreement import VOTES, AlarmRule, Judgements, kappa, of_voters, share_against
from rankings.fit.bradley_terry import SCALE
from rankings.fit.clusters import Clusters
from rankings.fit.posterior import sigmoid
from rankings.study.form import SEED, Chapter, percent, table
from rankings.study.voters import SPREAD, Crowd, active_voters, equal_pairs, opinions, outcomes
from rankings.tally.arrays import Floats
from rankings.tally.facts import EVEN, LEFT, RIGHT

CONTESTANTS = 8
MANY = 400_000
"""So many voters, with five votes each, tell the truth of a population to a third of a hundredth."""
SIZES = ((60, 6), (200, 8), (200, 20), (200, 60), (1000, 20), (1000, 100), (5000, 100), (5000, 1000), (20_000, 2000))
"""Votes and voters."""


class Judges(NamedTuple):
    """`taste`: Elo points per contestant. `care`: log odds that success is worth, on average and as voters differ in
    it. `ties`: log odds of saying even between equals, likewise."""

    taste: float = 300.0
    care: tuple[float, float] = (1.5, 1.0)
    ties: tuple[float, float] = (-1.0, 1.0)


def judged(judges: Judges, votes: int, voters: int, rng: np.random.Generator) -> Clusters:
    """The table of each voter of a crowd in an arena that is always the same."""
    arena = np.random.default_rng(7)
    theta = arena.normal(0.0, SPREAD / SCALE, CONTESTANTS)
    skill = sigmoid(theta + arena.normal(0.0, 0.5, CONTESTANTS))
    voter = active_voters(voters, votes, rng)
    left, right = equal_pairs(CONTESTANTS, votes, rng)
    reached = rng.random((2, votes)) < skill[np.stack([left, right])]
    ahead = reached[0].astype(float) - reached[1]
    own = opinions(theta, Crowd(voters, judges.taste), rng)
    care, ties = rng.normal(*judges.care, voters), sigmoid(rng.normal(*judges.ties, voters))
    margin = own[voter, left] - own[voter, right] + care[voter] * ahead
    vote = VOTES[outcomes(margin, ties[voter], rng)]
    success = np.where(ahead > 0, LEFT, np.where(ahead < 0, RIGHT, EVEN))
    return Judgements(vote, success, voter).tables


@cache
def truth(judges: Judges, seed: int) -> tuple[float, float]:
    """Kappa and the share against, of as many voters as one likes."""
    table = judged(judges, 5 * MANY, MANY, np.random.default_rng(seed)).total[None, :]
    return float(kappa(table)[0]), float(share_against(table)[0])


class AgreementCoverage(NamedTuple):
    """Share of intervals that hold the truth, and their mean half-width."""

    kappa: float
    kappa_width: float
    against: float
    against_width: float


def held(judges: Judges, votes: int, voters: int, *, repeats: int, seed: int) -> AgreementCoverage:
    """Arenas in which kappa or the share is undefined are left out."""
    value, share = truth(judges, seed)
    found = []
    for number in range(repeats):
        each = of_voters(judged(judges, votes, voters, np.random.default_rng([seed, number])), AlarmRule())
        ends = (each["kappa_low"], each["kappa_high"], each["against"]["low"], each["against"]["high"])
        found.append([np.nan if end is None else end for end in ends])
    low, high, least, most = np.array(found).T
    return AgreementCoverage(*_inside(low, high, value), *_inside(least, most, share))


def _inside(low: Floats, high: Floats, value: float) -> tuple[float, float]:
    known = ~np.isnan(low)
    return float(np.mean((low <= value) & (value <= high), where=known)), float(np.nanmean(high - low) / 2.0)


CROWDS = {"strong tastes": Judges(), "voters alike": Judges(0.0, (1.5, 0.0), (-1.0, 0.0))}

TEXT = """
## Agreement of votes and success
Eight contestants. With strong tastes, voters have standard deviations of 300 points per contestant, of 1.0 in the log
odds that they give to reaching the goal (1.5 on average), and of 1.0 in those of a tie; kappa is then {kappa:.3f} and
the share against {share:.3f} among infinitely many voters. Held: in how many of {repeats} arenas the 95 % interval
holds these values. Wanted: 93 to 97 %.

{rows}
"""


def chapter(repeats: int) -> Chapter:
    heads = "crowd", "votes", "voters", "kappa: held", "mean half-width", "share against: held", "mean half-width"
    rows = []
    for name, judges in CROWDS.items():
        for votes, voters in SIZES:
            kappa, kappa_width, against, width = held(judges, votes, voters, repeats=repeats, seed=SEED)
            cells = percent(kappa), f"{kappa_width:.3f}", percent(against), f"{width:.3f}"
            rows.append((name, votes, voters, *cells))
    value, against = truth(Judges(), SEED)
    return Chapter(TEXT.format(kappa=value, share=against, repeats=repeats, rows=table(heads, rows)))
