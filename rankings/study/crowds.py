"""Simulated crowds and those who stuff votes into them: what weights, caps and flags are worth. No Django.

The base is honest: policies' ratings are normal with a spread of 150 points; every voter has a taste, normal per
policy; how much a voter votes is lognormal; pairs are drawn unequally; some voters share networks and come back on
later days. In part of the battles physics is clear, and then the vote mostly goes with it. Everything follows from a
seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit, fit
from rankings.fit.ratings import CAP
from rankings.study.voters import Aim, outcomes, population, rated, truth
from rankings.tally.arrays import Floats, Integers
from rankings.tally.table import VoteTable
from rankings.tally.visits import ALONE
from rankings.tally.weights import Answers, answer
from rankings.trust import outliers
from rankings.trust.campaigns import Campaign, campaigns, strongest
from rankings.trust.limits import LATELY, WIDE, limited

NEW_DAYS = (7, LATELY)
"""Voters first seen within so many days are looked at together."""
FIRST = date(2026, 1, 1)
TIES = 0.35
NOT_CLEAR, LEFT_WINS, RIGHT_WINS = -1, 0, 1
CLEAR, CLEAR_OF_EVEN, WITH_PHYSICS = 0.35, 0.08, 0.93
"""How often physics is clear where the vote names a winner and where not, and how often such a winner is its own."""
OUTCOME = ("left_better", "right_better", "tie", "both_bad")


@dataclass(frozen=True)
class Ballots:
    """Votes in the order in which they were cast, all (votes,). `winner`: what physics says, NOT_CLEAR mostly.

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

    def of(self, rows: np.ndarray) -> Ballots:
        return Ballots(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def and_then(self, other: Ballots) -> Ballots:
        columns = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return Ballots(*(np.concatenate(pair) for pair in columns))


class Honest(NamedTuple):
    """`voters` cast `votes` on `policies` within `days`, each with a `taste` [Elo points] per policy. Of the first
    policy there are no votes before the day on which it `joined`."""

    votes: int = 4000
    voters: int = 500
    policies: int = 10
    taste: float = 100.0
    days: int = 14
    joined: int = 0


HONEST = Honest()


class Stuffing(NamedTuple):
    """`votes` by `cookies` that nobody has seen before, for one policy, from `networks` (0: from none that anybody
    knows), on `days` days, the last of them so many days `ago`.

    `knowing`: they vote for whom physics calls the winner where it is clear, so as to be trusted. `down`: against the
    policy that they aim at.
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
    activity = np.cumsum(rng.lognormal(0.0, 1.0, crowd.voters))
    voter = np.searchsorted(activity / activity[-1], rng.random(votes)).astype(np.int64)
    left, right = _pairs(size, votes, rng)
    own = rng.normal(0.0, crowd.taste / SCALE, (crowd.voters, size))
    margin = theta[left] - theta[right] + own[voter, left] - own[voter, right]
    outcome = outcomes(margin, TIES, rng)
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
    wanted, contrary = (1, LEFT_WINS) if way.down else (0, RIGHT_WINS)
    cast = np.where((winner == contrary) & way.knowing, 1 - wanted, wanted)
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


def fitted(policies: int, ballots: Ballots, *, limits: bool = True) -> Fit:
    """The board as it would be published, or without the limits of networks and newcomers."""
    return fit(table_of(policies, ballots, limits=limits).counts(), cap=CAP)


def table_of(policies: int, ballots: Ballots, *, limits: bool = True) -> VoteTable:
    names = tuple(map(_name, range(policies)))
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
    columns = (each.tolist() for each in (ballots.voter, ballots.outcome, ballots.winner))
    for voter, outcome, winner in zip(*columns, strict=True):
        if winner >= 0:
            own = answers.get(voters[voter], Answers())
            answers[voters[voter]] = own.plus(answer(OUTCOME[outcome], OUTCOME[winner]))
    trusting = VoteTable(values, codes, ballots.outcome).trusting(answers)
    return limited(trusting, CAP) if limits else trusting


class Attack(NamedTuple):
    """`moved`: Elo points by which the most moved rating moves; `flagged`: for the policy that is pushed, by how many
    `caught` stuffers and how many honest `others`."""

    moved: float
    flagged: bool
    caught: int
    others: int


def attack(way: Stuffing, *, seed: int, crowd: Honest = HONEST) -> Attack:
    """One arena in which somebody pushes a policy."""
    theta, base, both = _pushed(way, seed, crowd)
    with_them, without = (fitted(crowd.policies, each).rating for each in (both, base))
    name = _name(way.aim.at(theta))
    found = [each for each in flags(crowd.policies, both) if each.policy == name and each.favours != way.down]
    voters = {voter for each in found for voter in each.voters}
    caught = sum(voter > base.voter.max() for voter in voters)
    return Attack(float(np.abs(with_them - without).max()), bool(found), caught, len(voters) - caught)


class Moved(NamedTuple):
    """Elo points by which the most moved rating moves: of all, and of those whose half-width is at most WIDE without
    the stuffed votes."""

    most: float
    known: float


def moved(way: Stuffing, *, seed: int, crowd: Honest = HONEST) -> Moved:
    """As `attack`, without looking for campaigns."""
    _, base, both = _pushed(way, seed, crowd)
    with_them, without = (fitted(crowd.policies, each) for each in (both, base))
    points = np.abs(with_them.rating - without.rating)
    return Moved(float(points.max()), float(points[without.half_width <= WIDE].max(initial=0.0)))


def _pushed(way: Stuffing, seed: int, crowd: Honest) -> tuple[Floats, Ballots, Ballots]:
    """True ratings, honest votes, and these with the stuffed ones."""
    rng = np.random.default_rng(seed)
    theta = truth(crowd.policies, rng)
    base = honest(theta, crowd, rng)
    return theta, base, together(base, stuffed(theta, way, rng, until=crowd.days))


def flags(policies: int, ballots: Ballots) -> list[Campaign]:
    """The campaigns that would be found at the end."""
    table = table_of(policies, ballots)
    return strongest(each for days in NEW_DAYS for each in _flags(table, ballots, days))


def _flags(table: VoteTable, ballots: Ballots, days: int) -> list[Campaign]:
    new = table.new_voters(days)
    board = fit(table.doubting(new).counts(), cap=CAP)

    def paces(members: Sequence[int]) -> tuple[Floats, Floats]:
        sums, number = (np.bincount(ballots.voter, each) for each in (np.log(ballots.dwell), np.ones(len(ballots))))
        pace = sums / np.maximum(number, 1.0)
        others = np.setdiff1d(table.numbers_of(new), members)
        return pace[list(members)], pace[others]

    return campaigns(table.counts(), board, table.numbers_of(new), paces)


def false_flags(*, seed: int, crowd: Honest = HONEST) -> int:
    """How many campaigns are found where there is none."""
    rng = np.random.default_rng(seed)
    return len(flags(crowd.policies, honest(truth(crowd.policies, rng), crowd, rng)))


def held(repeats: int, crowd: Honest = HONEST, *, limits: bool = True) -> tuple[float, float]:
    """The share of intervals that hold the truth where newcomers weigh little and networks are shared, and their mean
    half-width."""
    inside, widths = [], []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        theta = truth(crowd.policies, rng)
        found = fitted(crowd.policies, honest(theta, crowd, rng), limits=limits)
        inside.append(np.abs(found.rating - rated(population(theta, crowd.taste), found)) <= found.half_width)
        widths.append(found.half_width.mean())
    return float(np.mean(inside)), float(np.mean(widths))


def ever_suspected(*, seed: int, crowd: Honest, looks: int = 10) -> tuple[int, int]:
    """Of honest voters: how many are ever suspected after any of their votes, at any of so many looks at a board that
    grows, and how many voters there are."""
    rng = np.random.default_rng(seed)
    ballots = honest(truth(crowd.policies, rng), crowd, rng)
    ends = np.linspace(0, len(ballots), looks + 1).astype(int)[1:]
    found = set().union(*(suspects(crowd.policies, ballots.of(np.arange(end))) for end in ends.tolist()))
    return len(found), len(np.unique(ballots.voter))


def suspects(policies: int, ballots: Ballots) -> set[int]:
    """Voters, by number, whom the board of these votes makes suspicious."""
    counts = table_of(policies, ballots).counts()
    others = outliers.PooledVotes(counts.names, counts.per_pair(), fit(counts, cap=CAP).rating)
    place = {name: number for number, name in enumerate(counts.names)}
    places = np.array([place.get(_name(number), 0) for number in range(policies)])
    found = set()
    for voter in np.unique(ballots.voter).tolist():
        own = ballots.of(ballots.voter == voter)
        if outliers.evidence(others, places[own.left], places[own.right], own.outcome).suspicious():
            found.add(voter)
    return found


def _name(policy: int) -> str:
    return f"p{policy:03}"


def _pairs(size: int, votes: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Some policies are drawn several times as often as others."""
    often = rng.lognormal(0.0, 0.5, (size, size))
    np.fill_diagonal(often, 0.0)
    drawn = rng.choice(size * size, votes, p=(often / often.sum()).ravel())
    return (drawn // size).astype(np.int64), (drawn % size).astype(np.int64)


def _winner(outcome: Integers, rng: np.random.Generator) -> Integers:
    """What physics says of battles on which honest voters would vote so."""
    decided = outcome < 2
    clear = rng.random(len(outcome)) < np.where(decided, CLEAR, CLEAR_OF_EVEN)
    same = rng.random(len(outcome)) < WITH_PHYSICS
    side = np.where(decided, np.where(same, outcome, 1 - outcome), rng.integers(0, 2, len(outcome)))
    return np.where(clear, side, NOT_CLEAR).astype(np.int64)


def _dwell(pace: Floats, rng: np.random.Generator, spread: float = 0.6) -> Floats:
    found: Floats = np.exp(pace + rng.normal(0.0, spread, len(pace)))
    return found
