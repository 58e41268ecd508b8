"""Limits on how far groups of votes may move a rating, over any length of time. No Django.

Two kinds of groups have a limit on every board that has a table: all votes of one network, on all its days; and all
votes of a *cohort*, voters first seen within WEEK days of each other at any time, or since one of the last LATELY days.
A group moves a rating by the difference between the fit with it and the fit without it, to first order about the fit
(one Newton step). While that exceeds the limit, the weights of all its votes are reduced alike: bounded influence, of
groups rather than of single votes (F. Hampel, E. Ronchetti, P. Rousseeuw, W. Stahel, *Robust Statistics*, 1986).

A limit grows with the square of the interval that a rating has without the group, as does what a given number of votes
moves: the first votes on a new policy are held back little. A group has no limit beside a crowd that is smaller or
hardly known, since nothing tells then which of the two is honest. Votes without a network have no limit.

The factors are multiplied into the trust of visits, so the published weights contain them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import PRIOR, SCALE
from rankings.fit.centre import centred, shares, variance_of_centred
from rankings.fit.estimate import Estimate
from rankings.fit.matrices import inverse
from rankings.fit.offsets import OFFSET_SD
from rankings.fit.posterior import assembled
from rankings.fit.student import Z
from rankings.tally.arrays import (
    Floats,
    Integers,
    Narrow,
    chunks,
    distinct,
    in_chunks,
    kept,
    narrowed,
    replaced,
    selection,
    taken,
)
from rankings.tally.counts import Counts
from rankings.tally.table import Board, VoteTable

NETWORK, COHORT = 5.0, 12.0
"""Elo points by which a network, and a cohort, may move a rating whose half-width without them is at most..."""
WIDE = 40.0
"""... so many Elo points, by the model alone. One that is twice as wide may be moved four times as far."""
WEEK, LATELY = 7, 28
"""Days (UTC): see above."""
OTHERS = 20.0
"""A group has a limit beside this many networks or more, each counted by its trust."""
ROUNDS = 12
"""The most rounds in which groups are measured and their weights reduced."""
SLACK = 1.01
"""A group that moves a rating less than this many times its limit is left alone."""
LOOKED_AT = 0.5
"""A group is measured exactly from this share of its limit on, by its influence, which underestimates its move."""
NEVER = -1
"""In place of the day of a first vote: unknown, or of no importance."""


def limited(table: VoteTable, cap: int) -> VoteTable:
    """The same votes, with lower weights for groups that move a board too far. `cap`: as on the boards."""
    if not len(table.visits):
        return table
    boards = [board for board in dict.fromkeys(table.boards()) if board.has_table]
    some = [board for board in boards if board == Board() or not table.holds_all(board)]
    first, last = _first_seen(table)
    found = [_Limits.of(table.counts(board), cap, first, last).factors() for board in some]
    return table.weighed_down(np.min(found, axis=0)) if found else table


def _first_seen(table: VoteTable) -> tuple[Narrow, int]:
    """(visits,) the day on which the voter of each visit from a network was first seen, as a number; and the last
    day of all."""
    visits, days = table.visits, table.values["day"]
    if "" in days:
        return np.full(len(visits), NEVER), NEVER
    numbers = np.array([date.fromisoformat(day).toordinal() for day in days], dtype=np.int64)
    numbers -= numbers.min(initial=numbers[0])
    first = numbers[table.first_days(visits.key // visits.days)]
    first[kept(visits, "source") < 0] = NEVER
    return narrowed(first), int(numbers[-1])


class Beyond(NamedTuple):
    """How many `times` its limit a cohort moves a rating: the voters first seen from `day` until before `until`."""

    times: float
    day: int
    until: int


@dataclass(frozen=True)
class _Limits:
    """Of one board."""

    votes: Counts
    """Sides forgotten."""
    weights: Floats
    """(rows,) before any limit."""
    visit: Narrow
    """(rows,) the place of each row's visit; one past the last where it came from no network."""
    network: Narrow
    """(visits + 1,) NEVER for the last."""
    first: Narrow
    """(visits + 1,) the day on which the voter was first seen; NEVER for the last."""
    last: int
    """The last day."""
    crowd: tuple[Integers, Floats]
    """The day of the first vote and the trust of each network, and of each voter without one."""

    @classmethod
    def of(cls, counts: Counts, cap: int, first: Narrow, last: int) -> _Limits:
        votes, visits = counts.without_sides(), counts.visits
        visit = narrowed(visits.places(kept(votes, "voter"), kept(votes, "day")))
        network, first = np.append(kept(visits, "source"), np.int8(NEVER)), narrowed(np.append(first, NEVER))
        crowd = _crowd(votes, taken(network, visit), taken(first, visit))
        return cls(votes, votes.weights(cap), visit, network, first, last, crowd)

    def factors(self) -> Floats:
        """(visits,) by which the weights of each visit are multiplied."""
        return self._of_cohorts(self._of_networks(np.broadcast_to(1.0, len(self.network))))[:-1]

    def _of_networks(self, factors: Floats) -> Floats:
        """`factors` (visits + 1,): found so far."""
        if self.crowd[1].sum() - 1.0 < OTHERS:
            return factors
        votes = replaced(self.votes, voter=taken(self.network, self.visit))
        for _ in range(ROUNDS):
            found = self._fitted(votes, factors)
            beyond = np.ones(int(self.network.max()) + 2)  # the last place is for visits from none
            reach = np.zeros(len(beyond))
            for networks, moved in found.influence_by_turns():
                reach[networks] = SCALE * np.abs(moved).max(axis=1, initial=0.0)
            for number in np.flatnonzero(reach > LOOKED_AT * NETWORK).tolist():
                beyond[number] = _times(found, found.sums_of(np.flatnonzero(kept(votes, "voter") == number)), NETWORK)
            if beyond.max() <= SLACK:
                break
            factors = factors / np.maximum(beyond, 1.0)[self.network]
        return factors

    def _of_cohorts(self, factors: Floats) -> Floats:
        """Each round reduces the weights of the cohort that is farthest beyond its limit."""
        for _ in range(ROUNDS):
            worst = max(self._times_of_cohorts(factors), default=Beyond(0.0, 0, 0))
            if worst.times <= SLACK:
                break
            own = (self.first >= worst.day) & (self.first < worst.until)
            factors = np.where(own, factors / worst.times, factors)
        return factors

    def _times_of_cohorts(self, factors: Floats) -> Iterator[Beyond]:
        first = taken(self.first, self.visit)
        order = narrowed(np.argsort(first, kind="stable"))
        days = np.unique(first[first >= 0]).tolist()
        ends = np.searchsorted(first[order], np.array([*days, self.last + 1], first.dtype))
        found = self._fitted(self.votes, factors)
        week: dict[int, Floats] = {}
        late: Floats | float = 0.0
        for place in reversed(range(len(days))):
            day = days[place]
            own = found.sums_of(order[ends[place] : ends[place + 1]])
            week = {day: own} | {each: sums for each, sums in week.items() if each < day + WEEK}
            late = late + own
            is_late = day > self.last - LATELY
            until = self.last + 1 if is_late else day + WEEK
            if self._are_fewer(day, until):
                yield Beyond(_times(found, late if is_late else np.sum([*week.values()], axis=0), COHORT), day, until)

    def _are_fewer(self, day: int, until: int) -> bool:
        """Whether a cohort has less trust in all than all others together."""
        first, trust = self.crowd
        own = (first >= day) & (first < until)
        return float(trust[~own].sum()) >= max(OTHERS, float(trust[own].sum()))

    def _fitted(self, votes: Counts, factors: Floats) -> Estimate:
        weights = self.weights
        if not (factors == 1.0).all():
            weights = taken(factors, self.visit)
            weights *= self.weights
        return Estimate.weighed(votes, weights, prior=PRIOR, ties="half", offset_sd=OFFSET_SD / SCALE)


def _crowd(votes: Counts, network: Narrow, first: Narrow) -> tuple[Integers, Floats]:
    """Each network, and each known voter without one, once: see `_Limits.crowd`. `network`, `first` (rows,)."""
    own = selection(kept(votes, "voter") >= 0)
    voter, network, first, day = kept(votes, "voter")[own], network[own], first[own], kept(votes, "day")[own]
    alone = int(network.max(initial=0)) + 1
    known = in_chunks(
        len(voter), lambda rows: np.where(network[rows] >= 0, network[rows], alone + np.int64(voter[rows]))
    )
    who = distinct(known)[1]
    size = int(who.max(initial=-1)) + 1
    since, trust, trusts = np.full(size, np.iinfo(np.int64).max), np.zeros(size), votes.visits.trusts(voter, day)
    for rows in chunks(len(who)):
        np.minimum.at(since, who[rows], first[rows].astype(np.int64))
        np.maximum.at(trust, who[rows], trusts[rows])
    return since, trust


def _times(found: Estimate, sums: Floats, points: float) -> float:
    """How many times a limit of so many points the votes with these `Estimate.sums_of` move a rating."""
    x, games = found.x, found.posterior.games
    played, score = sums
    own = replace(games, played=played, score=score)
    information = own.information(x)
    residual = score - played * games.expected_scores(x)
    gradient = residual.sum(axis=1) - residual.sum(axis=0)
    if SCALE * np.abs(found.lever @ found.bread @ gradient).max() < LOOKED_AT * points:
        return 0.0
    bread = inverse(found.posterior.hessian(x) - assembled(information)[:-1, :-1])
    mean = shares(np.maximum(found.weighed_votes(games) - found.weighed_votes(own), 0.0), found.comparable)
    moved = found.lever @ bread @ gradient
    variance = variance_of_centred(found.lever @ bread @ found.lever.T, mean)
    limit = points * np.maximum(1.0, variance * (Z * SCALE / WIDE) ** 2)
    return float((SCALE * np.abs(centred(moved, mean)) / limit).max())
