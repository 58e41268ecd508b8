"""A fit in natural units, before it is put into Elo points. Numbers in, numbers out, no Django.

Inside, a contestant on each of r settings is a contestant of its own: x has r k parameters; a matrix leads to the k
ratings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankings.fit.centre import shares, variance_of_centred
from rankings.fit.davidson import with_ties
from rankings.fit.graph import diagonal_blocks, reachability
from rankings.fit.matrices import inverse, sandwich
from rankings.fit.offsets import lever
from rankings.fit.posterior import Games, Posterior, by_contestant
from rankings.fit.sandwich import (
    PerVoter,
    by_voter,
    gradients_of_voters,
    meat_of_voters,
    meat_of_votes,
    some_voters,
    variance_of_differences,
)
from rankings.fit.student import Z, quantile
from rankings.tally.arrays import Booleans, Floats, Integers, kept
from rankings.tally.counts import Counts

TIES = ("half", "davidson")
"""How a tie enters: as half a win each, or as an outcome of its own."""


@dataclass(frozen=True)
class Mode:
    """A fitted posterior, and the way from it to the ratings."""

    scored: Booleans
    """(r k, r k) i has scored against j."""
    posterior: Posterior
    x: Floats
    settings: int
    lever: Floats
    """(k, r k) theta = lever x; with one setting the identity."""

    @classmethod
    def of_games(cls, games: Games, *, settings: int, prior: float, ties: str, offset_sd: float) -> Mode:
        """From sums per pair (r k, r k) alone: what it costs does not depend on how many votes there are."""
        if ties not in TIES:
            raise ValueError(f"unknown treatment of ties {ties!r}; known: {', '.join(TIES)}")
        scored = games.scored > 0
        reach = reachability(scored)
        comparable = reachability(games.met) if prior > 0 else reach & reach.T
        posterior = Posterior(games.only(comparable), prior, comparable)
        posterior, x = with_ties(posterior) if ties == "davidson" else (posterior, posterior.mode())
        bridge = np.eye(len(scored)) if settings == 1 else lever(posterior, x, settings, offset_sd)
        return cls(scored, posterior, x, settings, bridge)

    @cached_property
    def bread(self) -> Floats:
        """(r k, r k) inverse Hessian."""
        return inverse(self.posterior.hessian(self.x))

    @cached_property
    def reach(self) -> Booleans:
        """(k, k) i has scored against j on some setting, directly or through others."""
        return reachability(self._folded(self.scored))

    @cached_property
    def comparable(self) -> Booleans:
        """(k, k) an equivalence: votes lead from one to the other."""
        return reachability(self._folded(self.posterior.comparable))

    @cached_property
    def voted(self) -> Booleans:
        """(k,) has a vote that says something."""
        found: Booleans = np.any(self._folded(self.posterior.games.met), axis=1)
        return found

    def theta(self) -> Floats:
        """(k,)"""
        return self.lever @ self.x[:-1]

    @cached_property
    def mean(self) -> Floats:
        """(k, k) what ratings and intervals are relative to: `centre.shares`."""
        return shares(self.weighed_votes(self.posterior.games), self.comparable)

    def weighed_votes(self, games: Games) -> Floats:
        """(k,) what the votes on each contestant weigh together."""
        found: Floats = by_contestant(games.played).reshape(self.settings, len(self.lever)).sum(axis=0)
        return found

    def covariance_of_theta(self, covariance: Floats) -> Floats:
        """(k, k) covariance of theta from that of x. What nobody voted on is as uncertain as the prior leaves it."""
        if self.settings == 1:
            return covariance
        prior = self.posterior.prior
        unvoted = np.where(self.voted, 0.0, 4.0 / prior if prior else 0.0)
        found: Floats = self.lever @ covariance @ self.lever.T + np.diag(unvoted)
        return found

    def _folded(self, pairs: Booleans) -> Booleans:
        """(k, k) where any of the diagonal blocks of a matrix (r k, r k) is true."""
        found: Booleans = np.any(diagonal_blocks(pairs, self.settings), axis=0)
        return found


class Covariance(NamedTuple):
    """`matrix` (k, k) of theta; `degrees` (k,): of freedom that each contestant's variance is known with."""

    matrix: Floats
    degrees: Floats

    def sd_of_centred(self, mean: Floats) -> Floats:
        """(k,) of theta less its mean by `shares`, as wide as Student's distribution asks for."""
        return np.sqrt(variance_of_centred(self.matrix, mean)) * quantile(self.degrees) / Z

    def sd_of_differences(self) -> Floats:
        """(k, k) as wide as Student's distribution asks for."""
        wide = quantile(self.degrees) / Z  # falls with the degrees: of two contestants the wider counts
        found = np.sqrt(variance_of_differences(self.matrix))
        found *= np.maximum(wide[:, None], wide[None, :])
        return found


@dataclass(frozen=True)
class Estimate(Mode):
    """A mode with the votes behind it, from which its covariance comes."""

    votes: Counts
    """Setting by setting, sides forgotten."""
    weights: Floats

    @classmethod
    def of(cls, counts: Counts, *, prior: float, cap: int, ties: str, offset_sd: float) -> Estimate:
        """As `bradley_terry.fit`, but `offset_sd` in natural units."""
        votes = counts.without_sides()
        return cls.weighed(votes, votes.weights(cap), prior=prior, ties=ties, offset_sd=offset_sd)

    @classmethod
    def weighed(cls, counts: Counts, weights: Floats, *, prior: float, ties: str, offset_sd: float) -> Estimate:
        """With weights (rows,) of one's own. `counts`: sides forgotten."""
        votes = counts.apart()
        games = Games.of(votes, weights)
        mode = Mode.of_games(games, settings=counts.settings, prior=prior, ties=ties, offset_sd=offset_sd)
        return cls(mode.scored, mode.posterior, mode.x, mode.settings, mode.lever, votes, weights)

    def covariances(self, *, cluster: bool) -> list[Covariance]:
        """Each vote for itself; where asked for and voters are known, each voter for itself; and where voters share
        networks, each network for itself."""
        contestants = len(self.lever)
        meats: list[tuple[Floats, Floats] | None] = [
            (meat_of_votes(self.posterior, self.x), np.full(contestants, np.inf))
        ]
        for votes in (self.votes, self.votes.by_network()) if cluster else ():
            if votes is not None:
                meats.append(meat_of_voters(votes, self.weights, self.posterior, self.x, self.bread, contestants))
        return [
            Covariance(self.covariance_of_theta(sandwich(self.bread, meat)), degrees)
            for meat, degrees in filter(None, meats)
        ]

    def influence_of_voters(self) -> Floats:
        """(voters, k) what each known voter's votes add to theta, to first order; by the voter's number."""
        found = np.zeros((int(kept(self.votes, "voter").max(initial=-1)) + 1, len(self.lever)))
        for voters, influence in self.influence_by_turns():
            found[voters] = influence
        return found

    def influence_by_turns(self) -> Iterator[tuple[slice, Floats]]:
        """The same of some voters at a time."""
        votes, weights = self._known
        carry, first = (self.lever @ self.bread).T, 0
        for gradients in gradients_of_voters(votes, weights, self.posterior.games, self.x):
            yield slice(first, first + len(gradients)), gradients @ carry
            first += len(gradients)

    def votes_by_turns(self) -> Iterator[Floats]:
        """(voters, k) what each known voter's votes on each contestant weigh together, of as many voters at a time."""
        votes, weights = by_voter(*self._known)
        size = len(self.lever)
        for rows, place, voters in some_voters(kept(votes, "voter")):
            some, own = votes.where(rows), weights[rows]
            spread = PerVoter(place, some.left % size, some.right % size, (voters, size))
            cast = own * some.votes
            yield spread(cast, cast)

    @property
    def _known(self) -> tuple[Counts, Floats]:
        """The votes of known voters, and their weights."""
        known = kept(self.votes, "voter") >= 0
        return (self.votes, self.weights) if known.all() else (self.votes.where(known), self.weights[known])

    def sums_of(self, rows: Booleans | Integers) -> Floats:
        """(2, r k, r k) of some of the votes, by a mask or their places: what they weigh, and what of it the left side
        scored."""
        games = Games.of(self.votes.where(rows), self.weights[rows])
        return np.stack([games.played, games.score])
