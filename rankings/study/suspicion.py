"""Who is suspected: simulated voters who are tested one by one, honest ones of many kinds, and bots.

Honest voters have tastes and habits: a liking for the left side, for saying even, and for both bad among these, all
normal in log odds. How much each votes is lognormal, some vote much more; pairs are drawn unequally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import SCALE, fit
from rankings.fit.posterior import sigmoid
from rankings.fit.ratings import CAP
from rankings.study.form import SEED, Chapter, share, table
from rankings.study.voters import Crowd, active_voters, chosen, columns, counted, joined, name, opinions, unequal_pairs
from rankings.tally.arrays import Floats, Integers
from rankings.tally.counts import Columns, Counts
from rankings.trust.outliers import ALPHA, PooledVotes, evidence

EVEN, BAD = -0.6, -0.8
"""Log odds of saying even between equals, and of both bad among these, for the average voter."""


class People(NamedTuple):
    """`taste` and `spread`: Elo points by which voters differ per contestant, and contestants among themselves. `side`,
    `even` and `bad`: by how much voters differ in their habits [log odds]. `heavy`: so many voters cast 500 votes
    each."""

    contestants: int = 10
    votes: int = 4000
    voters: int = 300
    taste: float = 100.0
    spread: float = 150.0
    side: float = 0.15
    even: float = 0.5
    bad: float = 0.8
    heavy: int = 0


HEAVY_VOTES = 500


def honest(people: People, rng: np.random.Generator) -> Columns:
    size = people.contestants
    theta = rng.normal(0.0, people.spread / SCALE, size)
    voter = active_voters(people.voters, people.votes, rng)
    voter = rng.permutation(np.concatenate([voter, np.repeat(np.arange(people.heavy), HEAVY_VOTES)]))
    left, right = unequal_pairs(size, len(voter), 0.5, rng)
    own = opinions(theta, Crowd(people.voters, people.taste), rng)
    habits = rng.normal(0.0, 1.0, (3, people.voters)) * np.array([[people.side], [people.even], [people.bad]])
    hopeless = rng.normal(0.0, 0.5, size)
    margin = own[voter, left] - own[voter, right]
    return columns(left, right, _outcomes(margin, hopeless[left] + hopeless[right], habits[:, voter], rng), voter)


def _outcomes(margin: Floats, hopeless: Floats, habits: Floats, rng: np.random.Generator) -> Integers:
    """(votes,) places in OUTCOMES. `hopeless` (votes,): how much both contestants make one say both bad [log odds]."""
    side, even, bad = habits
    p = sigmoid(margin)
    even_odds = EVEN + even + np.log(4.0 * p * (1.0 - p) + 1e-9)
    is_even = rng.random(len(p)) < sigmoid(even_odds)
    is_bad = rng.random(len(p)) < sigmoid(BAD + hopeless + bad)
    is_left = rng.random(len(p)) < sigmoid(margin + side)
    return np.where(is_even, 2 + is_bad, 1 - is_left).astype(np.int64)


def suspected(counts: Counts, cast: Columns, voters: Iterable[int]) -> set[int]:
    """Those of some voters whom the board of `counts` makes suspicious. `cast`: its votes, one by one."""
    others = PooledVotes(counts.names, counts.per_pair(), fit(counts, cap=CAP).rating)
    found = set()
    for voter in voters:
        own = chosen(cast, cast.voter == voter)
        left, right = (np.searchsorted(counts.names, [*map(name, side.tolist())]) for side in (own.left, own.right))
        if evidence(others, left, right, own.outcomes).suspicious():
            found.add(voter)
    return found


def ever_suspected(cast: Columns, board: Callable[[int], Counts], *, looks: int) -> tuple[int, int]:
    """How many voters are suspected after any vote, at any of so many looks at a growing board; and how many there are.

    `board`: the counts of the first so many votes."""
    voters = np.unique(cast.voter).tolist()
    ends = np.linspace(0, len(cast.voter), looks + 1).astype(int)[1:].tolist()
    found = (suspected(board(end), chosen(cast, slice(end)), voters) for end in ends)
    return len(set().union(*found)), len(voters)


def caught(people: People, bot: str, votes: int, *, seed: int) -> bool:
    """Whether one bot among honest voters is suspected. `bot`: one of BOTS."""
    rng = np.random.default_rng(seed)
    cast = honest(people, rng)
    number = people.voters
    whole = joined(cast, columns(*BOTS[bot](people.contestants, votes, rng), np.full(votes, number)))
    return bool(suspected(counted(people.contestants, whole), whole, [number]))


Votes = tuple[Integers, Integers, Integers]
"""(votes,) left, right and outcome of each."""


def _always(outcome: int, contestants: int, votes: int, rng: np.random.Generator) -> Votes:
    return *unequal_pairs(contestants, votes, 0.5, rng), np.full(votes, outcome)


def _at_random(contestants: int, votes: int, rng: np.random.Generator) -> Votes:
    return *unequal_pairs(contestants, votes, 0.5, rng), rng.integers(0, 4, votes)


def _for_the_last(contestants: int, votes: int, rng: np.random.Generator) -> Votes:
    """Where the last contestant is one of the pair, as in half of the votes; a coin decides the others."""
    left, right = unequal_pairs(contestants, votes, 0.5, rng)
    left = np.where((rng.random(votes) < 0.5) & (right != contestants - 1), contestants - 1, left)
    coin = rng.integers(0, 2, votes)
    return left, right, np.where(left == contestants - 1, 0, np.where(right == contestants - 1, 1, coin))


BOTS: dict[str, Callable[[int, int, np.random.Generator], Votes]] = {
    "always the left side": partial(_always, 0),
    "always a tie": partial(_always, 2),
    "always both bad": partial(_always, 3),
    "at random": _at_random,
    "for one contestant": _for_the_last,
}


USUAL = People()
CROWDS = {
    "tastes of 100 points": USUAL,
    "tastes of 150 points": USUAL._replace(taste=150),
    "tastes of 200 points": USUAL._replace(taste=200),
    "tastes of 200 points, contestants within 30": USUAL._replace(taste=200, spread=30),
    "twice the habits": USUAL._replace(side=0.3, even=1.0, bad=1.5),
    "3 contestants, tastes of 150": USUAL._replace(contestants=3, taste=150),
    "3 contestants, 600 votes of 60 voters": USUAL._replace(contestants=3, votes=600, voters=60),
    "300 votes of 40 voters, tastes of 150": USUAL._replace(votes=300, voters=40, taste=150),
    "30 contestants, tastes of 150": USUAL._replace(contestants=30, taste=150),
    "10 voters cast 500 votes each, tastes of 200": USUAL._replace(taste=200, heavy=10),
}
SIZES = (20, 30, 40, 80, 200)

TEXT = """
## Suspicion
Honest voters with tastes, habits and lognormal activity, pairs drawn unequally; 4000 votes of 300 voters on ten
contestants unless said otherwise. Habits are differences between voters in the log odds of an even vote (standard
deviation 0.5), of both bad among these (0.8) and of the left side (0.15). Ever suspected: after any of their votes,
at any of {looks} looks at the growing board. Promised: at most {alpha:g} %.

{honest}

One bot among such voters, tastes of 100 points: suspected after so many votes, of {bots} boards each.

{caught}
"""
LOOKS = 5


def chapter(repeats: int) -> Chapter:
    """It takes long: a tenth of the repeats."""
    boards = max(1, repeats // 10)
    honest_rows = [(name, _suspected(people, boards)) for name, people in CROWDS.items()]
    bots = [
        (bot, *(sum(caught(USUAL, bot, votes, seed=SEED + number) for number in range(boards)) for votes in SIZES))
        for bot in BOTS
    ]
    return Chapter(
        TEXT.format(
            looks=LOOKS,
            alpha=100 * ALPHA,
            honest=table(("honest voters", "ever suspected (95 % interval)"), honest_rows),
            bots=boards,
            caught=table(("bot", *(f"{votes} votes" for votes in SIZES)), bots),
        )
    )


def _first(contestants: int, cast: Columns, end: int) -> Counts:
    return counted(contestants, chosen(cast, slice(end)))


def _suspected(people: People, boards: int) -> str:
    crowds = (honest(people, np.random.default_rng(SEED + number)) for number in range(boards))
    found = [ever_suspected(cast, partial(_first, people.contestants, cast), looks=LOOKS) for cast in crowds]
    return share(*map(sum, zip(*found, strict=True)))
