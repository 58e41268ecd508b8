"""Bradley-Terry ratings and their intervals from outcome counts. Numbers in, numbers out, no Django.

P(left is preferred) = sigma(theta_left - theta_right); tie and both_bad are worth half a win to each side. Inside,
theta is in natural units; outside, ratings are on Elo's scale: 1500 + theta * 400 / ln 10, with mean 1500 over the
contestants that can be compared with each other (`fit.centre`). docs/ranking.md explains the method and its sources.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankings.fit.centre import centred, centred_each
from rankings.fit.estimate import Estimate, Mode
from rankings.fit.graph import groups, reachability
from rankings.fit.offsets import OFFSET_SD
from rankings.fit.posterior import Games, Posterior
from rankings.fit.student import Z
from rankings.tally.arrays import Booleans, Floats, Integers, kept
from rankings.tally.counts import Counts

SCALE = 400.0 / np.log(10.0)
"""Elo points per natural unit: 173.7."""
MEAN = 1500.0
PRIOR = 1.0
"""Virtual games per contestant against the mean, half won and half lost."""


@dataclass(frozen=True)
class Fit:
    """Ratings of `names`, in their order. Unvoted contestants are in it too, at 1500 with the prior's width."""

    names: tuple[str, ...]
    rating: Floats
    """(k,) Elo points."""
    weight: Floats
    """(k,) how much each counts in the mean of its group, which is 1500: `centre.shares`. They sum to 1 in a group."""
    on_settings: Floats
    """(settings, k) how much of a contestant's own rating on each setting enters its rating: with theta = sum_r L_r x_r
    (`rankings.fit.offsets`), the diagonals of L_r."""
    half_width: Floats
    """(k,) Elo points, of the 95 % interval about that mean; inf where the data say nothing at all (only without a
    prior)."""
    difference_sd: Floats
    """(k, k) Elo points: half the 95 % interval of rating i minus rating j, divided by 1.96; inf between groups."""
    group: Integers
    """(k,) contestants with the same label can be compared, directly or through others."""
    reach: Booleans
    """(k, k) i has scored against j, directly or through others."""
    posterior: Floats
    """(k, k) Elo points squared: inverse Hessian, what the model itself expects. For planning: one more vote on a pair
    of win probability p adds p (1 - p) / SCALE² d d^T to its inverse, d = e_i - e_j."""
    nu: float = 0.0
    """Davidson's parameter: between equals, nu ties come on two decided votes. 0 where ties are half wins."""

    @cached_property
    def no_upper_bound(self) -> Booleans:
        """(k,) somebody comparable never scored against it, even through others: only the prior holds it down."""
        found: Booleans = np.any(self._comparable & ~self.reach.T, axis=1)
        return found

    @cached_property
    def no_lower_bound(self) -> Booleans:
        """(k,) it never scored against somebody comparable, even through others: only the prior holds it up."""
        found: Booleans = np.any(self._comparable & ~self.reach, axis=1)
        return found

    @cached_property
    def _comparable(self) -> Booleans:
        """(k, k) connected by votes, whoever won them."""
        return reachability(self.reach | self.reach.T)

    def rank_ranges(self, ranked: Booleans) -> tuple[Integers, Integers]:
        """(k,) best and worst rank of each contestant among those `ranked` ones of its group that the 95 % intervals of
        differences allow."""
        among = ranked[None, :] & (self.group[:, None] == self.group[None, :])
        ahead = (self.rating[None, :] - self.rating[:, None]) > Z * self.difference_sd
        behind = (self.rating[:, None] - self.rating[None, :]) > Z * self.difference_sd
        return 1 + (ahead & among).sum(axis=1), among.sum(axis=1) - (behind & among).sum(axis=1)

    def components(self) -> list[list[str]]:
        """The names that can be compared with each other, group by group, each sorted; the largest group first."""
        found = [[self.names[i] for i in np.flatnonzero(self.group == label)] for label in np.unique(self.group)]
        return sorted(found, key=lambda members: (-len(members), members))


@dataclass(frozen=True)
class SideAdvantage:
    """What standing on the left is worth, in Elo points; 0 would be fair."""

    elo: float
    half_width: float


def fit(
    counts: Counts,
    *,
    prior: float = PRIOR,
    cap: int = 0,
    cluster: bool = True,
    ties: str = "half",
    offset_sd: float = OFFSET_SD,
) -> Fit:
    """Rate every contestant in `counts`; several settings are brought together by offsets (`rankings.fit.offsets`).

    `prior`: virtual games per contestant; 0 leaves the data alone, and then contestants compare only where each has
    scored against the other, directly or through others. `cap`: a voter's votes of one day weigh at most so much
    together, and those of a network's voters; 0: no limit. `cluster`: the votes of one voter or network are not taken
    for independent; it never narrows an interval. `ties`: one of `estimate.TIES`. `offset_sd`: Elo points by which a
    contestant's abilities may differ between settings."""
    found = Estimate.of(counts, prior=prior, cap=cap, ties=ties, offset_sd=offset_sd / SCALE)
    covariances = found.covariances(cluster=cluster)
    sd = functools.reduce(np.maximum, (each.sd_of_centred(found.mean) for each in covariances))
    difference = functools.reduce(np.maximum, (each.sd_of_differences() for each in covariances))
    if prior == 0:
        sd[~found.voted] = np.inf
    difference[~found.comparable] = np.inf
    return Fit(
        names=counts.names,
        rating=MEAN + SCALE * centred(found.theta(), found.mean),
        weight=np.diag(found.mean).copy(),
        on_settings=np.stack([np.diag(each) for each in np.split(found.lever, found.settings, axis=1)]),
        half_width=Z * SCALE * sd,
        difference_sd=SCALE * difference,
        group=groups(found.comparable),
        reach=found.reach,
        posterior=SCALE**2 * found.covariance_of_theta(found.bread),
        nu=found.posterior.games.nu,
    )


def ratings_of(counts: Counts, *, cap: int = 0) -> Floats:
    """(k,) the ratings of `fit`, without intervals, which take most of its time."""
    found = Estimate.of(counts, prior=PRIOR, cap=cap, ties="half", offset_sd=OFFSET_SD / SCALE)
    ratings: Floats = MEAN + SCALE * centred(found.theta(), found.mean)
    return ratings


@dataclass(frozen=True)
class Refits:
    """Some votes fitted again and again, each time without a few of them: from sums per pair, in milliseconds."""

    votes: Counts
    """Setting by setting."""
    weights: Floats
    games: Games
    settings: int

    @classmethod
    def of(cls, counts: Counts, *, cap: int = 0) -> Refits:
        votes, weights = counts.apart(), counts.weights(cap)
        return cls(votes, weights, Games.of(votes, weights), counts.settings)

    def without(self, gone: Booleans | Integers) -> tuple[Floats, Integers]:
        """(k,) ratings and (k,) groups, as `fit` gives them for all rows but those `gone`, which are whole voters': a
        mask, or their places."""
        rest = self.games.less(Games.of(self.votes.where(gone), self.weights[gone]))
        found = Mode.of_games(rest, settings=self.settings, prior=PRIOR, ties="half", offset_sd=OFFSET_SD / SCALE)
        return MEAN + SCALE * centred(found.theta(), found.mean), groups(found.comparable)


def influence_of_voters(counts: Counts, *, cap: int = 0) -> Floats:
    """(voters, k) Elo points that each known voter's votes add to each rating, to first order, in single precision,
    which of a million voters takes 200 MB.

    A row's place is the voter's number in `counts`. Ratings without that voter are about the ratings less this row.
    """
    found = Estimate.of(counts, prior=PRIOR, cap=cap, ties="half", offset_sd=OFFSET_SD / SCALE)
    shape = int(kept(found.votes, "voter").max(initial=-1)) + 1, len(found.lever)
    points: Floats = np.zeros(shape, np.float32, order="F")  # since it is read contestant by contestant
    theta, weighed = found.theta(), found.weighed_votes(found.posterior.games)
    usual = centred(theta, found.mean)
    for (voters, moved), votes in zip(found.influence_by_turns(), found.votes_by_turns(), strict=True):
        points[voters] = SCALE * (usual - centred_each(theta - moved, weighed - votes, found.comparable))
    return points


def side_advantage(counts: Counts, *, cap: int = 0, near: Fit | None = None) -> SideAdvantage | None:
    """What the left side gains, fitted beside the ratings, with a virtual game of its own; None without a vote.
    `near`: a fit of the same counts, which saves steps.

    The interval is the Hessian's: where one contestant always stood left, only that admits that nothing is known.
    """
    if not counts.total:
        return None
    games = Games.of(counts.apart(), counts.weights(cap))
    posterior = Posterior(games, PRIOR, reachability(games.met), with_side=True)
    x = posterior.mode((near.rating - MEAN) / SCALE if near and counts.settings == 1 else None)
    only_side = np.append(np.zeros(len(x) - 1), 1.0)
    variance = np.linalg.solve(posterior.hessian(x), only_side)[-1]
    return SideAdvantage(float(SCALE * x[-1]), float(Z * SCALE * np.sqrt(variance)))
