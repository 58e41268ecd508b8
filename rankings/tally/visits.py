"""Weights of votes by their voter's network that day, and by the voter's trust. Numbers in, numbers out, no Django.

A *visit* is a voter's day (UTC). Visits from a network that several voters share are capped together, and a visit from
a network weighs by what its voter has proven so far (decision: vote-weights).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankings.tally.arrays import Booleans, Floats, Integers, starts_of_runs

ALONE = -1
"""In place of a network: none, or one of this voter alone."""


@dataclass(frozen=True)
class Visits:
    """The visits that came from a network, sorted by `key`. Other visits have full trust and share no network."""

    days: int
    key: Integers
    """(visits,) the voter's number times `days`, plus the day's."""
    network: Integers
    """(visits,) a number per network that voters share, from 0, or ALONE."""
    known: Booleans
    """(visits,) whether the voter voted on an earlier day too."""
    trust: Floats
    """(visits,) above 0, at most 1."""
    source: Integers
    """(visits,) a number per network from 0, shared or not."""

    def __len__(self) -> int:
        return len(self.key)

    @classmethod
    def of(cls, days: int, key: Integers, network: Integers, votes: Integers, known: Booleans, trust: Floats) -> Visits:
        """From rows (rows,) of votes that came from a network, several per visit. A visit belongs to the network of
        most of its votes."""
        each, totals = _totals(key, network, votes)
        order = np.lexsort((each[1], -totals, each[0]))
        first = order[starts_of_runs(each[0][order])]
        key_of_visit, chosen = each[0][first], each[1][first]
        place = np.searchsorted(key_of_visit, key)
        least, ever = np.ones(len(first)), np.zeros(len(first), dtype=bool)
        np.minimum.at(least, place, trust)
        np.logical_or.at(ever, place, known)
        return cls(days, key_of_visit, _shared(chosen, key_of_visit // max(1, days)), ever, least, chosen)

    def networks(self, voter: Integers, day: Integers) -> Integers:
        """(rows,) the network of each row's visit, where several voters share it, or ALONE."""
        return np.append(self.network, ALONE)[self.places(voter, day)]

    def sources(self, voter: Integers, day: Integers) -> Integers:
        """(rows,) the network of each row's visit, shared or not, or ALONE."""
        return np.append(self.source, ALONE)[self.places(voter, day)]

    def trusts(self, voter: Integers, day: Integers) -> Floats:
        """(rows,) the trust of each row's visit."""
        return np.append(self.trust, 1.0)[self.places(voter, day)]

    def places(self, voter: Integers, day: Integers) -> Integers:
        """(rows,) the place of each row's visit among these; one past the last for other visits."""
        key = np.where(voter >= 0, voter * self.days + day, -1)
        place = np.searchsorted(self.key, key)
        found: Integers = np.where(np.append(self.key, -1)[place] == key, place, len(self))
        found[voter < 0] = len(self)
        return found

    def factors(self, key: Integers, votes: Floats, cap: int) -> Floats:
        """(n,) the weight of each vote of these different, sorted visits, which have `votes` (n,).

        `cap`: the most that a visit weighs, and a network's day, before trust is applied; 0: no limit.
        """
        allowed = np.minimum(votes, cap) if cap else votes.astype(float)
        own, place = self._own(key)
        if cap:
            shared = self.network[own] >= 0
            at, who = place[shared], own[shared]
            group = self.network[who] * self.days + self.key[who] % self.days
            allowed[at] = shares(allowed[at], group, self.known[who], float(cap))
        found: Floats = allowed / np.maximum(votes, 1.0)
        found[place] *= self.trust[own]
        return found

    def _own(self, key: Integers) -> tuple[Integers, Integers]:
        """The places of the visits that are among `key` (n,), and their places in it."""
        place = np.searchsorted(key, self.key)
        inside = place < len(key)
        inside[inside] = key[place[inside]] == self.key[inside]
        return np.flatnonzero(inside), place[inside]


_NOTHING = np.zeros(0, np.int64)
NO_VISITS = Visits(1, _NOTHING, _NOTHING, _NOTHING.astype(bool), _NOTHING.astype(np.float64), _NOTHING)


def shares(wanted: Floats, group: Integers, first: Booleans, room: float) -> Floats:
    """(n,) the share that each gets of `wanted`, where each group has `room` in all. Those that are `first` are served
    before the others; within each of the two, shares are equal up to what is wanted."""
    found = wanted.copy()
    if not len(wanted):
        return found
    group = np.unique(group, return_inverse=True)[1]
    left = np.full(int(group.max()) + 1, room)
    for some in (np.flatnonzero(first), np.flatnonzero(~first)):
        if len(some):
            found[some] = np.minimum(wanted[some], _level(wanted[some], group[some], left)[group[some]])
            left -= np.bincount(group[some], found[some], len(left))
            left = np.maximum(left, 0.0)
    return found


def _level(wanted: Floats, group: Integers, room: Floats) -> Floats:
    """(groups,) the largest share in each group, such that its shares sum to its room."""
    order = np.lexsort((wanted, group))
    wanted, group = wanted[order], group[order]
    starts = starts_of_runs(group)
    sizes = np.diff(starts, append=len(group))
    before = np.cumsum(wanted) - wanted
    before -= np.repeat(before[starts], sizes)
    waiting = np.repeat(sizes, sizes) - (np.arange(len(group)) - np.repeat(starts, sizes))
    level = (room[group] - before) / waiting
    levels = np.maximum.reduceat(np.where(wanted >= level, level, -np.inf), starts)
    found = np.full(len(room), np.inf)
    found[group[starts]] = np.where(np.isneginf(levels), np.inf, levels)
    return found


def _totals(key: Integers, network: Integers, votes: Integers) -> tuple[tuple[Integers, Integers], Integers]:
    """Each pair of visit and network once, and its votes."""
    order = np.lexsort((network, key))
    key, network, votes = key[order], network[order], votes[order]
    starts = starts_of_runs(key, network)
    return (key[starts], network[starts]), np.add.reduceat(votes, starts)


def _shared(network: Integers, voter: Integers) -> Integers:
    """(visits,) numbers, in order, of networks that several voters came from; ALONE for others."""
    size = int(network.max()) + 2  # the first place is for ALONE
    pairs = np.unique(voter * size + network + 1)
    several = np.bincount(pairs % size, minlength=size) > 1
    several[0] = False
    return np.where(several, np.cumsum(several) - 1, ALONE)[network + 1]
