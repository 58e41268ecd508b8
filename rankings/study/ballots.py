"""Votes of honest crowds, and of those who stuff votes. Everything follows from a seed. No Django.

The honest voters: contestants' ratings are normal with a standard deviation of 150 points; every voter has a taste,
normal per contestant; how much a voter votes is lognormal; pairs are drawn unequally; some voters share networks and
come back on later days. In part of the battles one side alone succeeds, and then the vote mostly goes with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from rankings.fit.ratings import CAP
from rankings.study.voters import TIES, Aim, Crowd, active_voters, name, opinions, outcomes, unequal_pairs
from rankings.tally.arrays import Codes, Floats, Integers
from rankings.tally.counts import OUTCOMES
from rankings.tally.facts import LEFT, RIGHT, UNKNOWN
from rankings.tally.table import VoteTable
from rankings.tally.visits import ALONE
from rankings.tally.weights import Answers, answer
from rankings.trust.limits import limited

FIRST = date(2026, 1, 1)
CLEAR, CLEAR_OF_EVEN, WITH_SUCCESS = 0.35, 0.08, 0.93
"""How often one side alone succeeds where the vote names a winner and where not, and how often it is that winner."""


@dataclass(frozen=True)
class Ballots:
    """Votes in the order in which they were cast, all (votes,). `winner`: the side that alone succeeded, LEFT, RIGHT or
    mostly UNKNOWN.

    `day` from 0; `network` -1: none that matters. `dwell` [s]: how long the voter looked.
    """

    voter: Integers
    network: Integers
    day: Integers
    left: Integers
    right: Integers
    outcome: Integers
    winner: Integers
    dwell: Floats

    def __len__(self) -> int:
        return len(self.voter)

    def of(self, rows: np.ndarray | slice) -> Ballots:
        return Ballots(*(column[rows] for column in vars(self).values()))

    def and_then(self, other: Ballots) -> Ballots:
        return Ballots(*map(np.concatenate, zip(vars(self).values(), vars(other).values(), strict=True)))


class Honest(NamedTuple):
    """`voters` cast `votes` on `contestants` within `days`, each with a `taste` [Elo points] per contestant. Of the
    first contestant there are no votes before the day on which it `joined`."""

    votes: int = 4000
    voters: int = 500
    contestants: int = 10
    taste: float = 100.0
    days: int = 14
    joined: int = 0


HONEST = Honest()


class Stuffing(NamedTuple):
    """`votes` by `cookies` that nobody has seen before, for one contestant, from `networks` (0: from none that anybody
    knows), on `days` days, the last of them so many days `ago`.

    `knowing`: where one side alone succeeded they vote for it, so as to be trusted. `down`: against the
    contestant that they aim at.
    """

    votes: int
    cookies: int
    networks: int = 1
    days: int = 1
    knowing: bool = False
    ago: int = 0
    aim: Aim = Aim()
    down: bool = False


def honest(theta: Floats, crowd: Honest, rng: np.random.Generator) -> Ballots:
    """`theta` (k,) natural units."""
    size, votes = len(theta), crowd.votes
    voter = active_voters(crowd.voters, votes, rng)
    left, right = unequal_pairs(size, votes, 0.5, rng)
    own = opinions(theta, Crowd(crowd.voters, crowd.taste), rng)
    outcome = outcomes(own[voter, left] - own[voter, right], TIES, rng)
    first = rng.integers(0, crowd.days, crowd.voters)
    later = rng.random(votes) < 0.4
    day = np.where(later, rng.integers(first[voter], crowd.days), first[voter])
    shares = rng.random(crowd.voters) < 0.3
    network = np.where(shares, rng.zipf(1.5, crowd.voters) % 40, 40 + np.arange(crowd.voters))[voter]
    pace = rng.normal(2.5, 0.5, crowd.voters)[voter]
    found = Ballots(voter, network, day, left, right, outcome, _winner(outcome, rng), _dwell(pace, rng))
    order = np.argsort(day, kind="stable")
    return found.of(order[(np.minimum(left, right) > 0)[order] | (day >= crowd.joined)[order]])


def stuffed(theta: Floats, way: Stuffing, rng: np.random.Generator, *, until: int = HONEST.days) -> Ballots:
    """`until`: how many days of votes there are. Voters and networks are numbered from 0; see `together`."""
    votes = way.votes
    left, right = np.full(votes, way.aim.at(theta)), way.aim.against(theta, votes, rng)
    outcome = outcomes(theta[left] - theta[right], TIES, rng)
    winner = _winner(outcome, rng)
    wanted = RIGHT if way.down else LEFT
    cast = np.where((winner == 1 - wanted) & way.knowing, 1 - wanted, wanted)
    swap = rng.random(votes) < 0.5
    voter = np.arange(votes) % way.cookies
    day = until - way.ago - way.days + (np.arange(votes) * way.days) // votes
    return Ballots(
        voter,
        voter % way.networks if way.networks else np.full(votes, ALONE),
        day,
        np.where(swap, right, left),
        np.where(swap, left, right),
        np.where(swap, 1 - cast, cast),
        np.where(swap & (winner >= 0), 1 - winner, winner),
        _dwell(np.full(votes, 1.5), rng, 0.15),
    )


def together(base: Ballots, more: Ballots) -> Ballots:
    """The second ones' voters and networks are others than the first ones'."""
    voter, network = int(base.voter.max()) + 1, int(base.network.max()) + 1
    from_one = np.where(more.network == ALONE, ALONE, more.network + network)
    return base.and_then(replace(more, voter=more.voter + voter, network=from_one))


def table_of(contestants: int, ballots: Ballots, *, limits: bool = True) -> VoteTable:
    names = tuple(map(name, range(contestants)))
    nothing = np.zeros(len(ballots), np.int64)
    voters = tuple(f"v{number:06}" for number in range(int(ballots.voter.max()) + 1))
    codes = {"left": ballots.left, "right": ballots.right, "voter": ballots.voter, "day": ballots.day}
    values = {"left": names, "right": names, "voter": voters}
    values["day"] = tuple(str(FIRST + timedelta(days=day)) for day in range(int(ballots.day.max()) + 1))
    values["network"] = ("", *(f"n{number:06}" for number in range(int(ballots.network.max()) + 1)))
    codes["network"] = ballots.network + 1
    for key in ("setting", "scene", "task"):
        values[key], codes[key] = ("",), nothing
    answers: dict[str, Answers] = {}
    clear = ballots.of(ballots.winner != UNKNOWN)
    for voter, outcome, winner in zip(clear.voter.tolist(), clear.outcome.tolist(), clear.winner.tolist(), strict=True):
        own = answers.get(voters[voter], Answers())
        answers[voters[voter]] = own.plus(answer(OUTCOMES[outcome], OUTCOMES[winner]))
    trusting = VoteTable(values, Codes(codes), ballots.outcome).trusting(answers)
    return limited(trusting, CAP) if limits else trusting


def _winner(outcome: Integers, rng: np.random.Generator) -> Integers:
    """(votes,) which side alone succeeds in battles on which honest voters would vote so."""
    decided = outcome < 2
    clear = rng.random(len(outcome)) < np.where(decided, CLEAR, CLEAR_OF_EVEN)
    same = rng.random(len(outcome)) < WITH_SUCCESS
    side = np.where(decided, np.where(same, outcome, 1 - outcome), rng.integers(0, 2, len(outcome)))
    return np.where(clear, side, UNKNOWN).astype(np.int64)


def _dwell(pace: Floats, rng: np.random.Generator, spread: float = 0.6) -> Floats:
    return np.exp(pace + rng.normal(0.0, spread, len(pace)))
