"""A test for campaigns: new voters who together push one policy. Numbers in, numbers out, no Django.

The *push* of a new voter on a policy is the policy's score in the voter's votes beyond what the board expects, in units
of what chance and the voter's own taste (TASTE) explain. Three sums over new voters are tested: of pushes beyond
ORDINARY_PUSH, which few voters with many votes make large; of the same for all new voters of a network together, which
many voters with one vote each make large; and of all votes' surprise. The sums of honest new voters are simulated:
their votes are drawn many times, with a taste per voter, a common taste (DRIFT) and the uncertainty of the ratings. A
campaign's strength is the number of standard deviations by which a sum exceeds those.

Two further signs count: that the pushing voters met the policy more often than others did, as voters do who leave all
other battles (`pairs`), and that they took equally long for each vote, as a program does (`pace`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit
from rankings.fit.posterior import sigmoid
from rankings.fit.student import Z
from rankings.tally.arrays import Floats, Integers, kept
from rankings.tally.counts import Counts
from rankings.tally.visits import ALONE

TASTE = 110.0
"""Standard deviation of voters' tastes per policy [Elo points]."""
DRIFT = 25.0
"""Standard deviation of the common taste of all new voters per policy [Elo points]."""
ORDINARY_PUSH = 1.5
"""The largest push of a single voter that is not counted [standard deviations]."""
DRAWS, LEAST_DRAWS, DRAWN_VOTES = 60, 12, 12_000_000
"""How often votes are drawn, but at most DRAWN_VOTES votes in all."""
PUSHED = 5.0
"""The strength from which a push is a campaign by itself."""
SUSPECT, ALIKE = 3.5, 4.0
"""The strength from which a push is a campaign where pairs or paces exceed ALIKE [standard deviations]."""
ORDINARY = 1.0
"""The strongest pushers are a campaign's members, until the others push no more than this."""
LEAST_VOTERS = 3
LEAST_VARIANCE = 1e-9
"""Of a push, so that one that is certain can be divided by its spread."""

Paces = Callable[[Sequence[int]], tuple[Floats, Floats]]
"""From voters' numbers: (n,) the mean logarithm of the time that each took, nan where unknown; and that of others."""


class Campaign(NamedTuple):
    """`voters`: numbers of the members, the strongest pusher first; `votes`: theirs on `policy`. `push`, `pairs` and
    `pace` are in standard deviations; `favours`: for the policy, or against it."""

    policy: str
    favours: bool
    push: float
    pairs: float
    pace: float
    voters: list[int]
    votes: int


@dataclass(frozen=True)
class Newcomers:
    """The votes of new voters, one by one (votes,), and what the board expects of them. A *cell* is a voter with a
    policy that it voted on: nothing is computed of the others, which are most.
    """

    policies: int
    voter: Integers
    """(n,) numbers, sorted."""
    who: Integers
    """(cells,) places in `voter`."""
    policy: Integers
    """(cells,)"""
    left: Integers
    """(votes,) the cell of the voter and the policy on the left."""
    right: Integers
    """(votes,) likewise on the right."""
    score: Floats
    """(votes,) the left side's score."""
    margin: Floats
    """(votes,) the left side's rating less the right side's [natural units]."""
    cluster: Integers
    """(n,) the network of each voter, where several share it, or the voter alone: numbers from 0."""
    ties: float
    """The share of even votes between equals."""

    @classmethod
    def of(cls, counts: Counts, found: Fit, new: Integers) -> Newcomers:
        rows, policies = counts.where(np.isin(kept(counts, "voter"), new)), len(counts.names)
        voter, at = np.unique(rows.voter, return_inverse=True)
        cells = np.unique(np.concatenate([at * policies + rows.left, at * policies + rows.right]))
        left, right = (np.searchsorted(cells, at * policies + side) for side in (rows.left, rows.right))
        outcome = np.repeat(np.tile(np.arange(4), len(rows.voter)), rows.outcomes.ravel())
        margin = np.repeat((found.rating[rows.left] - found.rating[rows.right]) / SCALE, rows.votes)
        p = sigmoid(margin)
        even = outcome > 1
        ties = min(0.9, float(even.sum()) / max(1e-9, float((4.0 * p * (1.0 - p)).sum())))
        score = np.where(even, 0.5, np.where(outcome == 0, 1.0, 0.0))
        who, policy = np.divmod(cells, policies)
        left, right = np.repeat(left, rows.votes), np.repeat(right, rows.votes)
        cluster = _clusters(at, counts.visits.networks(rows.voter, rows.day), len(voter))
        return cls(policies, voter, who, policy, left, right, score, margin, cluster, ties)

    def summed(self, of_left: Floats, of_right: Floats) -> Floats:
        """(cells,) over the votes of each."""
        size = len(self.who)
        found = np.bincount(self.left, of_left, size).astype(float, copy=False)
        found += np.bincount(self.right, of_right, size)
        return found

    def spread(self) -> Floats:
        """(cells,) standard deviation of each push, from chance and tastes for the policy and its opponents."""
        p = sigmoid(self.margin)
        doubt = self.summed(p * (1.0 - p), p * (1.0 - p))
        found: Floats = np.sqrt(doubt + (TASTE / SCALE) ** 2 * (doubt**2 + doubt / 4.0) + LEAST_VARIANCE)
        return found

    @cached_property
    def _clusters(self) -> tuple[Integers, Integers]:
        """(cells,) the cell of its cluster, a cluster with a policy; (clusters' cells,) their policies."""
        known, place = np.unique(self.cluster[self.who] * self.policies + self.policy, return_inverse=True)
        return place, known % self.policies

    def sums(self, pushes: Floats, spread: Floats) -> Floats:
        """(3, 2, k) of pushes (cells,): beyond ORDINARY_PUSH by voter and by cluster, and all; for and against each."""
        place, policy = self._clusters
        together = np.bincount(place, pushes) / np.sqrt(np.bincount(place, spread**2))
        all_of_them = self._per_policy(pushes, self.policy)
        return np.stack(
            [
                [self._per_policy(np.maximum(sign * each - ORDINARY_PUSH, 0.0), whose) for sign in (1.0, -1.0)]
                for each, whose in ((pushes / spread, self.policy), (together, policy))
            ]
            + [[all_of_them, -all_of_them]]
        )

    def _per_policy(self, values: Floats, policy: Integers) -> Floats:
        """(k,)"""
        return np.bincount(policy, values, self.policies).astype(float, copy=False)

    def pushes(self, score: Floats) -> Floats:
        """(cells,) of votes with `score` (votes,), not divided by `spread`."""
        surprise = score - sigmoid(self.margin)
        return self.summed(surprise, -surprise)

    def drawn(self, known: Floats, rng: np.random.Generator) -> Floats:
        """(votes,) simulated scores of honest voters. `known` (k,): the ratings' standard errors."""
        own = rng.normal(0.0, TASTE / SCALE, len(self.who))
        own += rng.normal(0.0, np.hypot(known, DRIFT / SCALE), self.policies)[self.policy]
        p = sigmoid(self.margin + own[self.left] - own[self.right])
        tie = self.ties * 4.0 * p * (1.0 - p)
        draw = rng.random(len(p))
        return np.where(draw < tie, 0.5, np.where(draw < p + tie / 2.0, 1.0, 0.0))

    def on(self, place: int, values: Floats, otherwise: float) -> Floats:
        """(n,) each voter's value on a policy, of (cells,); `otherwise` for those without a vote on it."""
        found, mine = np.full(len(self.voter), otherwise), self.policy == place
        found[self.who[mine]] = values[mine]
        return found


def _clusters(at: Integers, network: Integers, voters: int) -> Integers:
    """(voters,) see `Newcomers`. `at`, `network` (rows,): the place of each row's voter, and the network or ALONE."""
    found = np.full(voters, ALONE)
    np.maximum.at(found, at, network)
    alone = np.arange(voters) + int(found.max(initial=0)) + 1
    return np.unique(np.where(found >= 0, found, alone), return_inverse=True)[1]


def campaigns(counts: Counts, found: Fit, new: Integers, paces: Paces) -> list[Campaign]:
    """Campaigns among a board's voters `new` (n,), by number: at most one for and one against each policy."""
    some = Newcomers.of(counts, found, new)
    if len(some.voter) < LEAST_VOTERS:
        return []
    spread, rng = some.spread(), np.random.default_rng(0)
    known = np.minimum(found.half_width, 700.0) / Z / SCALE
    pushes = some.pushes(some.score)
    draws = max(LEAST_DRAWS, min(DRAWS, DRAWN_VOTES // len(some.score)))
    drawn = [some.sums(some.pushes(some.drawn(known, rng)), spread) for _ in range(draws)]
    mean, sd = np.mean(drawn, axis=0), np.std(drawn, axis=0) + 0.3
    strength = ((some.sums(pushes, spread) - mean) / sd).max(axis=0)  # (2, k)
    usual = counts.per_policy().sum(axis=1) / max(1, counts.total)
    votes = some.summed(*[np.ones(len(some.score))] * 2)
    found_here = []
    for side, place in np.argwhere(strength > SUSPECT).tolist():
        push_on_it = (1.0 - 2.0 * side) * some.on(place, pushes, 0.0)
        spread_on_it = some.on(place, spread, np.sqrt(LEAST_VARIANCE))
        members = _members(some, push_on_it, spread_on_it, mean[:, side, place], sd[:, side, place])
        if len(members) < LEAST_VOTERS:
            continue
        push, who = float(strength[side, place]), some.voter[members].tolist()
        theirs = votes * np.isin(some.who, members)
        on_it = float(theirs[some.policy == place].sum())
        pairs = _lopsided(on_it, theirs.sum() / 2.0, float(usual[place]))
        pace = _alike(*paces(who))
        if push > PUSHED or max(pairs, pace) > ALIKE:
            found_here.append(Campaign(counts.names[place], not side, push, pairs, pace, who, int(on_it)))
    return found_here


def strongest(found: Iterable[Campaign]) -> list[Campaign]:
    """The strongest campaign for and against each policy, of those found among several groups of new voters."""
    weakest_first = sorted(found, key=lambda each: each.push)
    return list({(each.policy, each.favours): each for each in weakest_first}.values())


def _members(some: Newcomers, push: Floats, spread: Floats, mean: Floats, sd: Floats) -> Integers:
    """Places of those who push most, until the sums over the others are as of honest voters: `mean` and `sd` (3,).

    `push`, `spread` (n,). All pushing voters of a network that pushes are members.
    """
    own = push / spread
    network = np.bincount(some.cluster, push) / np.sqrt(np.bincount(some.cluster, spread**2))
    several = np.bincount(some.cluster) > 1
    hidden = np.flatnonzero((push > 0) & (several & (network > 2.0 * ORDINARY_PUSH))[some.cluster])
    order = np.argsort(-own, kind="stable")
    ordinary = np.ones(len(order) + 1, dtype=bool)
    for values, which in ((np.maximum(own - ORDINARY_PUSH, 0.0), 0), (push, 2)):
        left = values.sum() - np.concatenate([[0.0], np.cumsum(values[order])])
        ordinary &= left <= mean[which] + ORDINARY * sd[which] + 1e-9
    first = order[: int(np.argmax(ordinary)) if ordinary.any() else len(order)]
    members = np.union1d(first[push[first] > 0], hidden)
    return members[np.argsort(-own[members], kind="stable")]


def _lopsided(on_it: float, cast: float, usual: float) -> float:
    """By how many standard deviations members met the policy, on which they have so many of the votes that they cast,
    more often than its usual share."""
    return float((on_it - usual * cast) / np.sqrt(max(usual * (1.0 - usual) * cast, 1e-9)))


def _alike(own: Floats, others: Floats) -> float:
    """By how many standard deviations the members' paces spread less than the others'."""
    own, others = own[np.isfinite(own)], others[np.isfinite(others)]
    if len(own) < LEAST_VOTERS or len(others) < LEAST_VOTERS:
        return 0.0
    narrower = np.log(max(float(others.std(ddof=1)), 1e-6)) - np.log(max(float(own.std(ddof=1)), 1e-6))
    return float(narrower / np.sqrt(0.5 / (len(own) - 1) + 0.5 / (len(others) - 1)))
