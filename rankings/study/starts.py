"""What do several starts for one vote buy, per vote and per clip?

A contestant reaches the goal from a start with the chance sigmoid(skill + ease of that start); both sides of a battle
play from the same starts. A voter names the side that reached the goal from more of them, neither where that is equal,
and with the chance `error` anything. Skills are normal with the study's spread, eases normal with `eases`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankings.fit.bradley_terry import fit
from rankings.fit.posterior import sigmoid
from rankings.study.form import SEED, Chapter, table
from rankings.study.voters import chosen, columns, counted, equal_pairs, rank_correlation, truth
from rankings.tally.arrays import Floats, Integers
from rankings.tally.counts import Columns

CHECKPOINTS = tuple(round(50 * 2 ** (step / 2)) for step in range(14))
"""After so many votes an order is compared with the truth."""
RESAMPLED = 400


@dataclass(frozen=True)
class Clips:
    """`starts` for each vote; `error`: the share of votes that look at nothing; `eases`: how starts differ [logits]."""

    starts: int = 1
    error: float = 0.1
    contestants: int = 7
    eases: float = 1.0


@dataclass(frozen=True)
class Needed:
    """Votes until the mean rank correlation is as wanted, with a 95 % interval from resampled arenas; infinite where it
    was not reached."""

    votes: float
    low: float
    high: float


def goals(theta: Floats, left: Integers, right: Integers, clips: Clips, rng: np.random.Generator) -> Integers:
    """(2, votes) from how many starts each side reaches the goal."""
    ease = rng.normal(0.0, clips.eases, (clips.starts, len(left)))
    chances = sigmoid(np.stack([theta[left] + ease, theta[right] + ease]))
    found: Integers = (rng.random(chances.shape) < chances).sum(axis=1)
    return found


def votes_on(theta: Floats, number: int, clips: Clips, rng: np.random.Generator) -> Columns:
    """Pairs drawn alike, and what is voted on each."""
    left, right = equal_pairs(len(theta), number, rng)
    reached = goals(theta, left, right, clips, rng)
    seen = np.where(reached[0] > reached[1], 0, np.where(reached[0] < reached[1], 1, 2))
    careless = rng.random(number) < clips.error
    return columns(left, right, np.where(careless, rng.integers(0, 3, number), seen).astype(np.int64))


def orders(clips: Clips, *, repeats: int, seed: int, checkpoints: Sequence[int] = CHECKPOINTS) -> Floats:
    """(repeats, checkpoints) Spearman's correlation of the ratings with the skills, as votes come."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repeats):
        theta = truth(clips.contestants, rng)
        cast = votes_on(theta, checkpoints[-1], clips, rng)
        boards = (fit(counted(clips.contestants, chosen(cast, slice(number)))) for number in checkpoints)
        found.append([rank_correlation(theta, board.rating) for board in boards])
    return np.array(found)


def needed(found: Floats, wanted: float, *, seed: int, checkpoints: Sequence[int] = CHECKPOINTS) -> Needed:
    """Of `orders`."""
    rng = np.random.default_rng(seed)
    again = [found[rng.integers(0, len(found), len(found))] for _ in range(RESAMPLED)]
    low, high = np.quantile(
        [_crossing(each.mean(axis=0), wanted, checkpoints) for each in again], [0.025, 0.975], method="inverted_cdf"
    )
    return Needed(_crossing(found.mean(axis=0), wanted, checkpoints), float(low), float(high))


def misled(clips: Clips, *, pairs: int, seed: int) -> float:
    """Of votes on what was seen that name a side, the share that name the less skilled one."""
    rng = np.random.default_rng(seed)
    theta = rng.permutation(truth(pairs, rng))
    left, right = np.arange(0, pairs - 1, 2), np.arange(1, pairs, 2)
    reached = goals(theta, left, right, clips, rng)
    decided = reached[0] != reached[1]
    wrong = (reached[0] > reached[1]) != (theta[left] > theta[right])
    return float(wrong[decided].mean())


def lucky(*, clips: Clips, number: int, seed: int) -> float:
    """Of single clips that reach the goal, the share whose contestant does not reach it from any of the other
    starts."""
    rng = np.random.default_rng(seed)
    theta = truth(number, rng)
    ease = rng.normal(0.0, clips.eases, (clips.starts, number))
    reached = rng.random(ease.shape) < sigmoid(theta + ease)
    return float((reached[0] & ~reached[1:].any(axis=0)).sum() / reached[0].sum())


def _crossing(means: Floats, wanted: float, checkpoints: Sequence[int]) -> float:
    """Votes at which the means first are as wanted, on a straight line over the logarithm of votes."""
    above = np.nonzero(means >= wanted)[0]
    if not len(above):
        return float("inf")
    place = int(above[0])
    if place == 0:
        return float(checkpoints[0])
    before, after = np.log(checkpoints[place - 1]), np.log(checkpoints[place])
    part = (wanted - means[place - 1]) / (means[place] - means[place - 1])
    return float(np.exp(before + part * (after - before)))


STARTS = (1, 3, 5)
ERRORS = (0.1, 0.3)
WANTED = 0.95
PAIRS = 200_000
ABOUT = f"""
## Several starts
Seven contestants whose success is random at every start, both sides from the same starts; a vote names the side that
reached the goal from more starts, neither where that is equal, and careless votes are random. Votes until the
mean of Spearman's correlation with the skills is {WANTED}; the turns played are votes times starts. The last column: of
the careful votes that name a side, the share that names the less skilled one.
"""
ALONE = """
Of single clips that reach the goal, {alone:.1f} % are of a contestant that reaches it from neither of two more starts.
"""


def chapter(repeats: int) -> Chapter:
    rows = [_row(Clips(starts=starts, error=error), repeats) for error in ERRORS for starts in STARTS]
    heads = ("careless votes", "starts for each vote", f"votes to {WANTED}", "95 %", "turns played", "wrong side named")
    alone = 100 * lucky(clips=Clips(starts=3), number=PAIRS, seed=SEED)
    return Chapter(f"{ABOUT}\n{table(heads, rows)}\n{ALONE.format(alone=alone)}")


def _row(clips: Clips, repeats: int) -> tuple[object, ...]:
    found = needed(orders(clips, repeats=repeats, seed=SEED), WANTED, seed=SEED)
    wrong = f"{100 * misled(clips, pairs=PAIRS, seed=SEED):.1f} %"
    doubt = f"{_count(found.low)} to {_count(found.high)}"
    turns = _count(found.votes * clips.starts)
    return f"{100 * clips.error:.0f} %", clips.starts, _count(found.votes), doubt, turns, wrong


def _count(votes: float) -> str:
    return f"{votes:,.0f}" if math.isfinite(votes) else "not reached"
