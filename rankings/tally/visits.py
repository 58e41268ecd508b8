"""Weights of votes by their voter's network that day, and by the voter's trust. Numbers in, numbers out, no Django.

A *visit* is a voter's day (UTC). Visits from a network that several voters share are capped together, and a visit from
a network weighs by what its voter has proven so far (decision: vote-weights).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankings.tally.arrays import (
    Booleans,
    Column,
    Floats,
    Integers,
    Levels,
    Narrow,
    chunks,
    in_chunks,
    is_sorted,
    kept,
    levels_at,
    narrowed,
    places_in,
    replaced,
    starts_of_runs,
    taken,
)

ALONE = -1
"""In place of a network: none, or one of this voter alone."""


@dataclass(frozen=True)
class Visits:
    """The visits that came from a network, sorted by `key`. Other visits have full trust and share no network."""

    days: int
    known: Booleans
    """(visits,) whether the voter voted on an earlier day too."""
    trust: Levels = Levels()
    """(visits,) above 0, at most 1."""
    key: Column = Column()
    """(visits,) the voter's number times `days`, plus the day's."""
    network: Column = Column()
    """(visits,) a number per network that voters share, from 0, or ALONE."""
    source: Column = Column()
    """(visits,) a number per network from 0, shared or not."""

    def __len__(self) -> int:
        return len(kept(self, "key"))

    @classmethod
    def of(
        cls, days: int, key: Integers, network: Narrow, votes: Narrow, known: Booleans, trust: Floats | None = None
    ) -> Visits:
        """From rows (rows,) of votes that came from a network, several per visit. A visit belongs to the network of
        most of its votes. `trust`: None for full trust."""
        (key_of_visit, chosen), totals = _totals(key, network, votes)
        if len(starts_of_runs(key_of_visit)) < len(key_of_visit):
            order = np.lexsort((chosen, -totals, key_of_visit))
            first = order[starts_of_runs(key_of_visit[order])]
            key_of_visit, chosen = key_of_visit[first], chosen[first]
        ever = np.zeros(len(chosen), dtype=bool)
        ever[places_in(key_of_visit, key)[known]] = True
        shared = _shared(chosen, key_of_visit // max(1, days))
        found = cls(days, ever, np.broadcast_to(1.0, len(chosen)), key_of_visit, shared, chosen)
        return found if trust is None else found.trusted(np.searchsorted(key_of_visit, key), trust)

    def trusted(self, place: Narrow, trust: Floats) -> Visits:
        """The same visits with the least trust (rows,) of the rows of each, whose visits are at `place` (rows,)."""
        least = np.ones(len(self))
        np.minimum.at(least, place, trust)
        return replaced(self, trust=least)

    def networks(self, voter: Narrow, day: Narrow) -> Narrow:
        """(rows,) the network of each row's visit, where several voters share it, or ALONE."""
        return taken(np.append(kept(self, "network"), np.int8(ALONE)), self.places(voter, day))

    def sources(self, voter: Narrow, day: Narrow) -> Narrow:
        """(rows,) the network of each row's visit, shared or not, or ALONE."""
        return taken(np.append(kept(self, "source"), np.int8(ALONE)), self.places(voter, day))

    def trusts(self, voter: Narrow, day: Narrow) -> Floats:
        """(rows,) the trust of each row's visit."""
        return taken(np.append(self.trust, 1.0), self.places(voter, day))

    def places(self, voter: Narrow, day: Narrow) -> Narrow:
        """(rows,) the place of each row's visit among these; one past the last for other visits."""
        known = kept(self, "key")
        found = np.empty(len(voter), np.int32 if len(known) < np.iinfo(np.int32).max else np.int64)
        for rows in chunks(len(voter)):
            key = voter[rows].astype(np.int64)  # below 0 for nobody known
            key *= self.days
            key += day[rows]
            found[rows] = places_in(known, key)
        return found

    def factors(self, key: Narrow, votes: Narrow, cap: int) -> Floats:
        """(n,) the weight of each vote of these different, sorted visits, which have `votes` (n,).

        `cap`: the most that a visit weighs, and a network's day, before trust is applied; 0: no limit.
        """
        found: Floats = votes.astype(float)
        np.minimum(found, cap or np.inf, out=found)
        own, place = self._own(key)
        shared = kept(self, "network")[own] >= 0
        if cap and shared.any():
            at, who = (np.arange(len(each))[rows][shared] for each, rows in ((key, place), (self, own)))
            group = self.network[who] * self.days + self.key[who] % self.days
            found[at] = shares(found[at], group, self.known[who], float(cap))
        for rows in chunks(len(found)):
            found[rows] /= np.maximum(votes[rows], 1.0)
        found[place] *= levels_at(self, "trust", own)
        return found

    def _own(self, key: Narrow) -> tuple[Narrow | slice, Narrow | slice]:
        """The places of the visits that are among `key` (n,), and their places in it; slices where these are all."""
        mine = kept(self, "key")
        if np.array_equal(mine, key):
            return slice(None), slice(None)
        own = in_chunks(len(key), lambda rows: places_in(mine, key[rows]))
        inside = own < len(mine)
        return (own, slice(None)) if inside.all() else (own[inside], narrowed(np.flatnonzero(inside)))


_NOTHING = np.zeros(0, np.int64)
NO_VISITS = Visits(1, _NOTHING.astype(bool), _NOTHING.astype(np.float64), _NOTHING, _NOTHING, _NOTHING)


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


def _totals(key: Integers, network: Narrow, votes: Narrow) -> tuple[tuple[Integers, Narrow], Integers]:
    """Each pair of visit and network once, in order, and its votes."""
    if not is_sorted(key) or ((network[1:] < network[:-1]) & (key[1:] == key[:-1])).any():
        order = np.lexsort((network, key))
        key, network, votes = key[order], network[order], votes[order]
    starts = starts_of_runs(key, network)
    return (key[starts], network[starts]), np.add.reduceat(votes, starts, dtype=np.int64)


def _shared(network: Narrow, voter: Integers) -> Integers:
    """(visits,) numbers, in order, of networks that several voters came from; ALONE for others."""
    place = np.add(network, 1, dtype=np.int64)  # the first place is for ALONE
    someone = np.zeros(int(place.max()) + 1, np.int64)
    someone[place] = voter
    several = np.zeros(len(someone), dtype=bool)
    several[place[someone[place] != voter]] = True
    several[0] = False
    return np.where(several, np.cumsum(several) - 1, ALONE)[place]
