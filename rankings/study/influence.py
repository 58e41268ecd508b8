"""Does the influence report find every voter who decides a close race?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit, fit
from rankings.fit.ratings import CAP
from rankings.study.form import SEED, Chapter, table
from rankings.study.voters import TIES, Crowd, active_voters, columns, counted, equal_pairs, opinions, outcomes
from rankings.tally.arrays import Floats
from rankings.tally.counts import Counts
from rankings.trust.influence import PLACES, influence
from rankings.trust.standing import standing


class Race(NamedTuple):
    """The one of `arenas` arenas in which a gap of the top three is closest. `spread`: standard deviation of the
    contestants [Elo points]; with several robots they differ by as much on each."""

    contestants: int
    votes: int
    voters: int
    spread: float = 60.0
    robots: int = 1
    taste: float = 100.0
    arenas: int = 5


class FoundMovers(NamedTuple):
    """`movers`: by leaving each voter out and fitting again; `found` of them are reported, and `wrong` who are not
    among them. `looked_at` and `complete` as reported."""

    movers: int
    found: int
    wrong: int
    looked_at: int
    complete: bool


def simulate(race: Race, rng: np.random.Generator) -> Counts:
    size, votes = race.contestants, race.votes
    theta: Floats = rng.normal(0.0, race.spread / SCALE, size)
    offset = rng.normal(0.0, race.spread / SCALE if race.robots > 1 else 0.0, (race.robots, size))
    voter = active_voters(race.voters, votes, rng)
    left, right = equal_pairs(size, votes, rng)
    robot = np.minimum(rng.geometric(0.5, votes) - 1, race.robots - 1)
    own = opinions(theta, Crowd(race.voters, race.taste), rng)
    margin = own[voter, left] - own[voter, right] + offset[robot, left] - offset[robot, right]
    return counted(size, columns(left, right, outcomes(margin, TIES, rng), voter)._replace(setting=robot))


def _closest(found: Fit) -> float:
    """The least gap between two neighbours of the first four."""
    best = np.sort(found.rating)[::-1][: PLACES + 1]
    return float(np.min(best[:-1] - best[1:]))


def compared(race: Race, *, seed: int) -> FoundMovers:
    """The report beside leaving out each voter."""
    drawn = [simulate(race, np.random.default_rng([seed, number])) for number in range(race.arenas)]
    counts = min(drawn, key=lambda each: _closest(fit(each, cap=CAP)))
    fitted = fit(counts, cap=CAP)
    asked = standing(counts, fitted, fitted.names, cap=CAP)
    found = influence(asked)
    voters = np.unique(counts.voter).tolist()
    movers = {voter for voter in voters if asked.changed(np.array([voter]))[0]}
    reported = set(found["movers"])
    return FoundMovers(
        len(movers), len(reported & movers), len(reported - movers), found["looked_at"], found["complete"]
    )


RACES = {
    Race(10, 1000, 60): 1,
    Race(10, 4000, 200): 1,
    Race(10, 4000, 200, spread=20): 1,
    Race(10, 4000, 200, robots=3): 5,
    Race(30, 20_000, 1000, spread=20): 10,
    Race(30, 100_000, 5000, spread=20): 50,
}
"""And by what its repeats are divided: leaving out everybody takes long."""

TEXT = """
## Influence of single voters
Close races: of {arenas} arenas each, the one with the closest gap in the top three. Movers: voters without
whom, each alone, the top three change, found by leaving out each voter with a new fit. Wrong: voters reported who are
no movers. Looked at: the most voters for whom the report makes a new fit.

{rows}
"""


def chapter(repeats: int) -> Chapter:
    heads = "contestants", "robots", "votes", "voters", "races", "movers", "found", "wrong", "looked at", "complete"
    rows = [_row(race, max(1, repeats // part)) for race, part in RACES.items()]
    return Chapter(TEXT.format(arenas=next(iter(RACES)).arenas, rows=table(heads, rows)))


def _row(race: Race, repeats: int) -> tuple[object, ...]:
    every = [compared(race, seed=SEED + number) for number in range(repeats)]
    movers, found, wrong, looked_at, complete = zip(*every, strict=True)
    about = race.contestants, race.robots, race.votes, race.voters, repeats
    return (*about, sum(movers), sum(found), sum(wrong), max(looked_at), f"{sum(complete)} of {repeats}")
