"""Do the terms find out that votes lean to a side, to what ended first, to what was shorter?"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankings.analysis import terms
from rankings.analysis.comparison import NODES, WEIGHTS
from rankings.analysis.terms import BEYOND, TermVotes
from rankings.fit.bradley_terry import SCALE
from rankings.fit.centre import centred, shares
from rankings.fit.posterior import sigmoid
from rankings.study.form import Chapter, percent, share, table
from rankings.study.voters import TIES, Crowd, equal_pairs, name, opinions, outcomes, truth, voters_of
from rankings.tally.arrays import Floats
from rankings.tally.facts import EVEN, LEFT, RIGHT


class Biases(NamedTuple):
    """Elo points that each term is truly worth; `length`: per doubling. `alike`: all episodes are equally long. `slow`:
    the better a contestant, the longer its episodes, so that length and rating are easily taken for each other."""

    votes: int = 3000
    contestants: int = 8
    side: float = 0.0
    order: float = 0.0
    length: float = 0.0
    success: float = 0.0
    crowd: Crowd = Crowd(300, 100)
    alike: bool = False
    slow: float = 0.0


class FoundTerms(NamedTuple):
    """`terms`: name -> estimate less truth and whether the interval holds it. `bias`: (k,) ratings less the truth, with
    terms, and `plain` without; `holds` (k,)."""

    terms: dict[str, tuple[float, bool] | None]
    bias: Floats
    plain: Floats
    holds: Floats
    tilt: float
    """Elo points by which a rating is too high per standard deviation of the true ratings; `plain_tilt`: without."""
    plain_tilt: float


def simulate(way: Biases, theta: Floats, rng: np.random.Generator) -> TermVotes:
    size, number = way.contestants, way.votes
    left, right = equal_pairs(size, number, rng)
    pace = 100.0 * np.exp(way.slow * (theta - theta.mean()) / theta.std())
    steps = [np.maximum(5, rng.lognormal(np.log(pace[side]), 0.5)).astype(np.int64) for side in (left, right)]
    if way.alike:
        steps = [np.full(number, 100), np.full(number, 100)]
    reached = [rng.random(number) < sigmoid(theta[side]) for side in (left, right)]
    success = np.where(reached[0] == reached[1], EVEN, np.where(reached[0], LEFT, RIGHT)).astype(np.int64)
    voter, own = voters_of(way.crowd, number, rng), opinions(theta, way.crowd, rng)
    none, ones, zeros = np.full(number, -1), np.ones(number), np.zeros(number, np.int64)
    names = tuple(map(name, range(size)))
    votes = TermVotes(names, zeros, left, right, zeros, voter, none, ones, success, *steps)
    margin = own[voter, left] - own[voter, right]
    for term, column in votes.columns().items():
        margin += column * getattr(way, term) / SCALE
    return replace(votes, outcome=outcomes(margin, TIES, rng))


def recovered(way: Biases, seed: int) -> FoundTerms:
    rng = np.random.default_rng(seed)
    theta = truth(way.contestants, rng)
    votes = simulate(way, theta, rng)
    board = terms.board(votes, BEYOND)
    shrink = attenuation(way.crowd.taste)
    told = {
        name: None
        if (each := board["terms"][name]) is None
        else (each["elo"] - (wanted := getattr(way, name) * shrink), each["low"] <= wanted <= each["high"])
        for name in BEYOND
    }
    rows = [board["models"][name] for name in votes.names]
    cast_on = np.bincount(np.concatenate([votes.left, votes.right]), minlength=way.contestants).astype(float)
    mean = shares(cast_on, np.ones((way.contestants, way.contestants), dtype=bool))
    true = 1500.0 + SCALE * shrink * centred(theta, mean)
    rating, plain = (np.array([row[key] for row in rows]) for key in ("rating", "plain"))
    holds = np.array([row["low"] <= value <= row["high"] for row, value in zip(rows, true.tolist(), strict=True)])
    tilts = (float(np.polyfit(theta / theta.std(), values - true, 1)[0]) for values in (rating, plain))
    return FoundTerms(told, rating - true, plain - true, holds, *tilts)


def attenuation(taste: float) -> float:
    """By how much tastes pull a small difference together, as infinitely many voters would show it: the slope of the
    mean of sigmoid(d + taste) over that of sigmoid(d) at d = 0."""
    own = np.sqrt(2.0) * taste / SCALE * NODES
    slope = sigmoid(own) * sigmoid(-own) @ WEIGHTS
    return float(4.0 * slope)


SETTINGS = {
    "nothing": Biases(),
    "60 for the left side": Biases(side=60),
    "60 for the left side, no tastes": Biases(side=60, crowd=Crowd()),
    "-60 per doubling of length": Biases(length=-60),
    "the same, the better contestants being slower": Biases(length=-60, slow=0.5),
    "60 left, 30 first, -40 per doubling, 120 for success": Biases(side=60, order=30, length=-40, success=120),
    "the same by 60 voters": Biases(side=60, order=30, length=-40, success=120, crowd=Crowd(60, 100)),
    "60 for the left side, all episodes equally long": Biases(side=60, alike=True),
}

TEXT = """
## Terms beside the ratings
Eight contestants, 3000 votes of 300 voters with tastes; the lengths of episodes are lognormal, a better contestant
reaches the goal more often. Votes have the stated biases, in points. Error of each term: mean over {repeats} arenas,
with that mean's 95 % interval; in brackets how many of its 95 % intervals hold the truth. Wanted: no error, 93 to 97 %.

{terms}

The ratings with all else equal, success too. Held: intervals that hold the truth. Error: root of the mean square, with
terms and without. Tilt: by how much ratings of a contestant that is better by one standard deviation are too high on
average, with terms and without:

{ratings}
"""


def chapter(repeats: int) -> Chapter:
    arenas = {name: [recovered(way, seed) for seed in range(repeats)] for name, way in SETTINGS.items()}
    return Chapter(
        TEXT.format(
            repeats=repeats,
            terms=table(
                ("votes lean by", *BEYOND),
                [(name, *(_term(each, term) for term in BEYOND)) for name, each in arenas.items()],
            ),
            ratings=table(
                ("votes lean by", "held", "error", "error without", "tilt", "tilt without"),
                [(name, *_ratings(each)) for name, each in arenas.items()],
            ),
        )
    )


def _term(arenas: list[FoundTerms], name: str) -> str:
    known = [each.terms[name] for each in arenas if each.terms[name] is not None]
    if not known:
        return "unknown"
    errors, held = zip(*(each for each in known if each is not None), strict=True)
    doubt = 1.96 * float(np.std(errors)) / np.sqrt(len(errors))
    beside = "" if len(known) == len(arenas) else f", unknown in {len(arenas) - len(known)}"
    return f"{np.mean(errors):.1f} ± {doubt:.1f} ({share(sum(held), len(held))}{beside})"


def _ratings(arenas: list[FoundTerms]) -> list[str]:
    held = np.concatenate([each.holds for each in arenas])
    errors = (np.sqrt(np.mean(np.square([getattr(each, way) for each in arenas]))) for way in ("bias", "plain"))
    tilts = (np.mean([getattr(each, way) for each in arenas]) for way in ("tilt", "plain_tilt"))
    return [percent(held.mean()), *(f"{value:.1f}" for value in (*errors, *tilts))]
