"""Do new voters push one policy, as no crowd of honest ones would? Numbers in, numbers out, no Django.

Of each voter first seen in the last days, and of each policy, the *push* is what the policy scored in the voter's votes
beyond what the board expects, in units of what chance and a taste of the voter's own (TASTE) explain. Three sums over
the newcomers are looked at: of pushes beyond LINE, which few voters with many votes make large; the same of all
newcomers of a network taken together, which many voters with one vote each do; and of all votes' surprise. What honest
newcomers' sums would be is found by drawing all their votes anew, many times: each voter with a taste, all of them with
a common one (DRIFT), from ratings as sure as they are. How many standard deviations a sum lies beyond that is the
campaign's strength.

Three things are looked at: the push; whether those who push met the policy more often than others did, as somebody does
who leaves all other battles (`pairs`); and whether they took equally long for their votes, as a program does (`pace`).
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
"""Elo points by which voters differ, per policy."""
DRIFT = 25.0
"""Elo points by which all newcomers together may differ from those before them, per policy."""
LINE = 1.5
"""Pushes of single voters up to this are ordinary [standard deviations]."""
DRAWS, LEAST_DRAWS, DRAWN_VOTES = 60, 12, 12_000_000
"""How often votes are drawn anew, but no more than so many votes in all."""
PUSHED = 5.0
"""A sum beyond this many standard deviations is a campaign by itself, ..."""
SUSPECT, ALIKE = 3.5, 4.0
"""... and one beyond the first where pairs or paces are beyond the second."""
ORDINARY = 1.0
"""The strongest pushers are taken for the campaign's, until the rest pushes no more than this."""
LEAST_VOTERS = 3

Paces = Callable[[Sequence[int]], tuple[Floats, Floats]]
"""Of some voters, by number: (n,) the mean logarithm of how long each looked, nan where unknown; and that of others."""


class Campaign(NamedTuple):
    """`voters`: numbers of those who push, the strongest first; `votes`: theirs on `policy`. `push`, `pairs` and `pace`
    are in standard deviations; `favours`: for the policy, or against it."""

    policy: str
    favours: bool
    push: float
    pairs: float
    pace: float
    voters: list[int]
    votes: int


@dataclass(frozen=True)
class Newcomers:
    """The votes of voters first seen lately, one by one (votes,), and what the board says of them."""

    policies: int
    voter: Integers
    """(n,) numbers, sorted."""
    who: Integers
    """(votes,) places in `voter`."""
    left: Integers
    right: Integers
    score: Floats
    """(votes,) what each was worth to the left side."""
    margin: Floats
    """(votes,) of the left side's rating, natural units."""
    cluster: Integers
    """(n,) the network of each voter, where several share it, or the voter alone: numbers from 0."""
    ties: float
    """How many votes between equals are even."""

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
        """(n, k) standard deviation of each voter's push: chance, the taste for the policy, those for its opponents."""
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
        """(3, 2, k) of pushes (n, k): beyond LINE by voter, by cluster, and all; for each policy, and against it."""
        together = self.by_cluster(pushes)
        per_cluster, per_voter = together / np.sqrt(self.by_cluster(spread**2)), pushes / spread
        return np.stack(
            [
                [np.maximum(sign * each - LINE, 0.0).sum(axis=0) for sign in (1.0, -1.0)]
                for each in (per_voter, per_cluster)
            ]
            + [[sign * pushes.sum(axis=0) for sign in (1.0, -1.0)]]
        )

    def pushes(self, score: Floats) -> Floats:
        """(n, k) of votes worth `score` (votes,), not yet in units."""
        surprise = score - sigmoid(self.margin)
        return self.summed(surprise, -surprise)

    def drawn(self, known: Floats, rng: np.random.Generator) -> Floats:
        """(votes,) scores as honest newcomers might have given. `known` (k,): how sure the ratings are."""
        own = rng.normal(0.0, TASTE / SCALE, (len(self.voter), self.policies))
        own += rng.normal(0.0, np.hypot(known, DRIFT / SCALE), self.policies)
        p = sigmoid(self.margin + own[self.who, self.left] - own[self.who, self.right])
        tie = self.ties * 4.0 * p * (1.0 - p)
        draw = rng.random(len(p))
        return np.where(draw < tie, 0.5, np.where(draw < p + tie / 2.0, 1.0, 0.0))


def campaigns(counts: Counts, found: Fit, new: Integers, paces: Paces) -> list[Campaign]:
    """Among a board's voters `new` (n,), by number: one for and one against each policy at most."""
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
    told = []
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
            told.append(Campaign(counts.names[place], not side, push, pairs, pace, who, on_it))
    return told


def strongest(found: Iterable[Campaign]) -> list[Campaign]:
    """Of campaigns among several groups of newcomers, the strongest push for and against each policy."""
    best: dict[tuple[str, bool], Campaign] = {}
    for each in found:
        known = best.get((each.policy, each.favours))
        if known is None or each.push > known.push:
            best[each.policy, each.favours] = each
    return list(best.values())


def _members(some: Newcomers, push: Floats, spread: Floats, mean: Floats, sd: Floats) -> Integers:
    """Places of those who push most, until the sums over the others are as honest ones' are: `mean` and `sd` (3,).

    `push`, `spread` (n,). All who push as a network does that pushes are among them.
    """
    own = push / spread
    network = np.bincount(some.cluster, push) / np.sqrt(np.bincount(some.cluster, spread**2))
    several = np.bincount(some.cluster) > 1
    hidden = np.flatnonzero((push > 0) & (several & (network > 2.0 * LINE))[some.cluster])
    order = np.argsort(-own, kind="stable")
    ordinary = np.ones(len(order) + 1, dtype=bool)
    for values, which in ((np.maximum(own - LINE, 0.0), 0), (push, 2)):
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
