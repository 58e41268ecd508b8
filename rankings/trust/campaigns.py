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
from typing import NamedTuple

import numpy as np

from rankings.fit.bradley_terry import SCALE, Fit
from rankings.fit.posterior import sigmoid
from rankings.fit.student import Z
from rankings.tally.arrays import Floats, Integers
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
    """The votes of new voters, one by one (votes,), and what the board expects of them."""

    policies: int
    voter: Integers
    """(n,) numbers, sorted."""
    who: Integers
    """(votes,) places in `voter`."""
    left: Integers
    right: Integers
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
        rows = counts.where(np.isin(counts.voter, new))
        each = np.repeat(np.arange(len(rows.voter)), rows.votes)
        outcome = np.repeat(np.tile(np.arange(4), len(rows.voter)), rows.outcomes.ravel())
        left, right = rows.left[each], rows.right[each]
        margin = (found.rating[left] - found.rating[right]) / SCALE
        p = sigmoid(margin)
        even = outcome > 1
        ties = min(0.9, float(even.sum()) / max(1e-9, float((4.0 * p * (1.0 - p)).sum())))
        score = np.where(even, 0.5, np.where(outcome == 0, 1.0, 0.0))
        voter = np.unique(rows.voter)
        who = np.searchsorted(voter, rows.voter[each])
        network = np.full(len(voter), ALONE)
        np.maximum.at(network, who, counts.visits.networks(rows.voter, rows.day)[each])
        alone = np.arange(len(voter)) + int(network.max(initial=0)) + 1
        cluster = np.unique(np.where(network >= 0, network, alone), return_inverse=True)[1]
        return cls(len(counts.names), voter, who, left, right, score, margin, cluster, ties)

    def summed(self, of_left: Floats, of_right: Floats) -> Floats:
        """(n, k) over the votes of each voter on each policy."""
        size = len(self.voter) * self.policies
        sums = np.zeros(size)
        sums += np.bincount(self.who * self.policies + self.left, of_left, size)
        sums += np.bincount(self.who * self.policies + self.right, of_right, size)
        return sums.reshape(len(self.voter), self.policies)

    def spread(self) -> Floats:
        """(n, k) standard deviation of each voter's push, from chance and tastes for the policy and its opponents."""
        p = sigmoid(self.margin)
        doubt = self.summed(p * (1.0 - p), p * (1.0 - p))
        found: Floats = np.sqrt(doubt + (TASTE / SCALE) ** 2 * (doubt**2 + doubt / 4.0) + 1e-9)
        return found

    def by_cluster(self, sums: Floats) -> Floats:
        """(clusters, k) of (n, k)."""
        found = np.zeros((int(self.cluster.max()) + 1, self.policies))
        np.add.at(found, self.cluster, sums)
        return found

    def sums(self, pushes: Floats, spread: Floats) -> Floats:
        """(3, 2, k) of pushes (n, k): beyond ORDINARY_PUSH by voter and by cluster, and all; for and against each."""
        together = self.by_cluster(pushes)
        per_cluster, per_voter = together / np.sqrt(self.by_cluster(spread**2)), pushes / spread
        return np.stack(
            [
                [np.maximum(sign * each - ORDINARY_PUSH, 0.0).sum(axis=0) for sign in (1.0, -1.0)]
                for each in (per_voter, per_cluster)
            ]
            + [[sign * pushes.sum(axis=0) for sign in (1.0, -1.0)]]
        )

    def pushes(self, score: Floats) -> Floats:
        """(n, k) of votes with `score` (votes,), not divided by `spread`."""
        surprise = score - sigmoid(self.margin)
        return self.summed(surprise, -surprise)

    def drawn(self, known: Floats, rng: np.random.Generator) -> Floats:
        """(votes,) simulated scores of honest voters. `known` (k,): the ratings' standard errors."""
        own = rng.normal(0.0, TASTE / SCALE, (len(self.voter), self.policies))
        own += rng.normal(0.0, np.hypot(known, DRIFT / SCALE), self.policies)
        p = sigmoid(self.margin + own[self.who, self.left] - own[self.who, self.right])
        tie = self.ties * 4.0 * p * (1.0 - p)
        draw = rng.random(len(p))
        return np.where(draw < tie, 0.5, np.where(draw < p + tie / 2.0, 1.0, 0.0))


def campaigns(counts: Counts, found: Fit, new: Integers, paces: Paces) -> list[Campaign]:
    """Campaigns among a board's voters `new` (n,), by number: at most one for and one against each policy."""
    some = Newcomers.of(counts, found, new)
    if len(some.voter) < LEAST_VOTERS:
        return []
    spread, rng = some.spread(), np.random.default_rng(0)
    known = np.minimum(found.half_width, 700.0) / Z / SCALE
    pushes = some.pushes(some.score)
    draws = max(LEAST_DRAWS, min(DRAWS, DRAWN_VOTES // len(some.who)))
    drawn = [some.sums(some.pushes(some.drawn(known, rng)), spread) for _ in range(draws)]
    mean, sd = np.mean(drawn, axis=0), np.std(drawn, axis=0) + 0.3
    strength = ((some.sums(pushes, spread) - mean) / sd).max(axis=0)  # (2, k)
    usual = counts.per_policy().sum(axis=1) / max(1, counts.total)
    votes = some.summed(*[np.ones(len(some.who))] * 2)
    found_here = []
    for side, place in np.argwhere(strength > SUSPECT).tolist():
        sign = 1.0 - 2.0 * side
        members = _members(some, sign * pushes[:, place], spread[:, place], mean[:, side, place], sd[:, side, place])
        if len(members) < LEAST_VOTERS:
            continue
        push, who = float(strength[side, place]), some.voter[members].tolist()
        pairs = _lopsided(votes[members], place, float(usual[place]))
        pace = _alike(*paces(who))
        if push > PUSHED or max(pairs, pace) > ALIKE:
            on_it = int(votes[members, place].sum())
            found_here.append(Campaign(counts.names[place], not side, push, pairs, pace, who, on_it))
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


def _lopsided(votes: Floats, place: int, usual: float) -> float:
    """By how many standard deviations members with `votes` (n, k) met the policy more often than its usual share."""
    cast = votes.sum() / 2.0
    return float((votes[:, place].sum() - usual * cast) / np.sqrt(max(usual * (1.0 - usual) * cast, 1e-9)))


def _alike(own: Floats, others: Floats) -> float:
    """By how many standard deviations the members' paces spread less than the others'."""
    own, others = own[np.isfinite(own)], others[np.isfinite(others)]
    if len(own) < LEAST_VOTERS or len(others) < LEAST_VOTERS:
        return 0.0
    narrower = np.log(max(float(others.std(ddof=1)), 1e-6)) - np.log(max(float(own.std(ddof=1)), 1e-6))
    return float(narrower / np.sqrt(0.5 / (len(own) - 1) + 0.5 / (len(others) - 1)))
