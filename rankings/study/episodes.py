"""Votes that lean to a side, to what ended first, to what was shorter: do terms find it out? No Django."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankings.analysis import terms
from rankings.analysis.terms import LENGTH, ORDER, SIDE, SUCCESS, TermVotes
from rankings.fit.bradley_terry import SCALE
from rankings.fit.centre import centred, shares
from rankings.fit.posterior import sigmoid
from rankings.study.voters import NODES, WEIGHTS, Crowd, _voters, margins, outcomes, truth
from rankings.tally.arrays import Floats
from rankings.tally.facts import EVEN, LEFT, RIGHT


class Leaning(NamedTuple):
    """Elo points that each term is truly worth; `length`: per doubling. `alike`: all episodes are equally long.
    `slow`: the better a policy, the longer its episodes, so that length and rating are easily taken for each other."""

    votes: int = 3000
    policies: int = 8
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


def cast(way: Leaning, theta: Floats, rng: np.random.Generator) -> TermVotes:
    size, number = way.policies, way.votes
    left = rng.integers(0, size, number)
    right = (left + rng.integers(1, size, number)) % size
    pace = 100.0 * np.exp(way.slow * (theta - theta.mean()) / theta.std())
    steps = [np.maximum(5, rng.lognormal(np.log(pace[side]), 0.5)).astype(np.int64) for side in (left, right)]
    if way.alike:
        steps = [np.full(number, 100), np.full(number, 100)]
    reached = [rng.random(number) < sigmoid(theta[side]) for side in (left, right)]
    physics = np.where(reached[0] == reached[1], EVEN, np.where(reached[0], LEFT, RIGHT)).astype(np.int64)
    voter = _voters(way.crowd, number, rng) if way.crowd.voters else np.full(number, -1)
    names = tuple(f"p{place:03}" for place in range(size))
    none, ones = np.full(number, -1), np.ones(number)
    zeros = np.zeros(number, np.int64)
    votes = TermVotes(names, zeros, left, right, zeros, voter, none, ones, physics, *steps)
    margin = margins(theta, left, right, np.maximum(voter, 0), way.crowd, rng)
    for name, column in votes.columns().items():
        margin += column * getattr(way, name) / SCALE
    return TermVotes(names, zeros, left, right, outcomes(margin, 0.35, rng), voter, none, ones, physics, *steps)


def found(way: Leaning, seed: int, names: tuple[str, ...] = (SIDE, ORDER, LENGTH, SUCCESS)) -> FoundTerms:
    rng = np.random.default_rng(seed)
    theta = truth(way.policies, rng)
    votes = cast(way, theta, rng)
    board = terms.board(votes, names)
    shrink = attenuation(way.crowd.taste)
    told = {
        name: None
        if (each := board["terms"][name]) is None
        else (each["elo"] - (wanted := getattr(way, name) * shrink), each["low"] <= wanted <= each["high"])
        for name in names
    }
    rows = [board["models"][name] for name in votes.names]
    cast_on = np.bincount(np.concatenate([votes.left, votes.right]), minlength=way.policies).astype(float)
    mean = shares(cast_on, np.ones((way.policies, way.policies), dtype=bool))
    true = 1500.0 + SCALE * shrink * centred(theta, mean)
    rating, plain = (np.array([row[key] for row in rows]) for key in ("rating", "plain"))
    holds = np.array([row["low"] <= value <= row["high"] for row, value in zip(rows, true.tolist(), strict=True)])
    tilts = (float(np.polyfit(theta / theta.std(), values - true, 1)[0]) for values in (rating, plain))
    return FoundTerms(told, rating - true, plain - true, holds, *tilts)


def attenuation(taste: float) -> float:
    """By how much tastes pull a small difference together, as infinitely many voters would show it: the slope of the
    mean of sigmoid(d + taste) over that of sigmoid(d) at d = 0."""
    own = np.sqrt(2.0) * taste / SCALE * NODES
    slope = sigmoid(own) * sigmoid(-own) @ WEIGHTS / WEIGHTS.sum()
    return float(4.0 * slope)
