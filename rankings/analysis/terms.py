"""Ratings with all else equal: what side, order, length of the episodes and success are worth in a vote. No Django.

The margin of a vote is theta_left - theta_right + z beta, where z (terms,) is how the sides of that battle differ:

- `side`: 1, for the left side;
- `order`: 1 where the left side's episode ended first, -1 where the right one's did, 0 where they were alike;
- `length`: log2(steps of the left side / steps of the right side), within two doublings, in quarters of one;
- `success`: 1 where the left side alone reached the goal, -1 where the right one alone did, else 0.

theta and beta are fitted together by Newton's method, each with a virtual game against 0, from sums over votes that are
alike; the variance is the wider one of two sandwiches, in which the votes of a voter, or of a network, are correlated.
This is the style control of text arenas (FastChat, pull request 3585) for robots: with `success` among the terms, theta
says what is preferred beyond success.

A term that the votes cannot separate from the contestants and the terms before it is left out and reported as unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np

from rankings.fit.bradley_terry import MEAN, SCALE
from rankings.fit.estimate import Mode
from rankings.fit.matrices import inverse, sandwich
from rankings.fit.offsets import OFFSET_SD
from rankings.fit.posterior import Games, assembled, likeliest, sigmoid
from rankings.fit.sandwich import PerVoter, some_voters
from rankings.fit.student import quantile
from rankings.tally.arrays import (
    Booleans,
    Column,
    Floats,
    Integers,
    Narrow,
    chunks,
    distinct,
    in_chunks,
    is_sorted,
    kept,
    narrowed,
    replaced,
)
from rankings.tally.facts import UNKNOWN

SIDE, ORDER, LENGTH, SUCCESS = "side", "order", "length", "success"
EQUAL = (SIDE, ORDER, LENGTH)
"""Terms of "all else equal"."""
BEYOND = (*EQUAL, SUCCESS)
"""Terms of "beyond success", for votes on battles of known success."""
DOUBLINGS = 2.0
STEP = 0.25
"""Of lengths, in doublings."""
PRIOR = 1.0
"""Virtual games per parameter."""
LEAST = 1.0
"""Information that a term must have of its own: that of four votes between equals [1 / natural units squared], ..."""
LEAST_SHARE = 1e-3
"""... and so much of what it would have alone."""
FEW = 30
"""With fewer voters the variance is at least the inverse Hessian's."""
POINTS = np.array([1.0, 0.0, 0.5, 0.5])
"""What a vote is worth to the left side, by its place in OUTCOMES."""


class Term(TypedDict):
    """In Elo points, with the 95 % interval."""

    elo: float
    low: float
    high: float


class Adjusted(TypedDict):
    """`plain`: the rating by the same votes without terms. `rating`: with all else equal, and its 95 % interval."""

    plain: float
    rating: float
    low: float
    high: float


class AdjustedBoard(TypedDict):
    """Of `votes` votes. `terms`: what each is worth, null where the votes do not tell it from contestants and other
    terms; `length` is per doubling. `models`: by model_id."""

    votes: int
    terms: dict[str, Term | None]
    models: dict[str, Adjusted]


@dataclass(frozen=True)
class TermVotes:
    """One row per vote. All (rows,)."""

    names: tuple[str, ...]
    setting: Column = Column()
    """A number per setting from 0."""
    left: Column = Column()
    """Place in `names`."""
    right: Column = Column()
    outcome: Column = Column()
    """Place in OUTCOMES."""
    voter: Column = Column()
    """A number per voter from 0; -1 for nobody known, who is another person each time."""
    network: Column = Column()
    """A number per network that several voters share, from 0; -1 for none."""
    weight: Floats  # type: ignore[misc]  # a `Column` has no default
    success: Column = Column()
    """LEFT, RIGHT, EVEN or UNKNOWN, as in `rankings.tally.facts`."""
    steps_left: Column = Column()
    steps_right: Column = Column()
    measured: Mapping[str, Floats] = field(default_factory=dict)
    """(rows,) of each term of the kind's own, such as those of `rankings.analysis.style`."""

    def where(self, rows: Booleans | slice) -> TermVotes:
        columns = {name: column[rows] for name, column in vars(self).items() if name not in ("names", "measured")}
        measured = {name: column[rows] for name, column in self.measured.items()}
        return replaced(self, **columns, measured=measured)

    @property
    def judged(self) -> Booleans:
        """(rows,) the success of both sides is known."""
        found: Booleans = kept(self, "success") != UNKNOWN
        return found

    @property
    def settings(self) -> int:
        return int(kept(self, "setting").max(initial=0)) + 1

    def columns(self) -> dict[str, Floats]:
        """(rows,) of each term."""
        return {term: self.column(term) for term in (*BEYOND, *self.measured)}

    def column(self, term: str) -> Floats:
        """(rows,) of a term."""
        if term in self.measured:
            return self.measured[term]
        if term == SIDE:
            return np.ones(len(self.weight))
        if term == ORDER:
            return np.sign(self.steps_right - kept(self, "steps_left")).astype(float)
        if term == LENGTH:
            ratio = np.log2(np.maximum(self.steps_left, 1) / np.maximum(self.steps_right, 1))
            return np.round(np.clip(ratio, -DOUBLINGS, DOUBLINGS) / STEP) * STEP
        return np.array([1.0, -1.0, 0.0, 0.0])[kept(self, "success")]  # of LEFT, RIGHT, EVEN and UNKNOWN


@dataclass(frozen=True)
class Cells:
    """Votes that are alike, summed. Parameters (n,): abilities on each setting, setting by setting, then the terms."""

    abilities: int
    left: Integers
    """(cells,) place among the abilities."""
    right: Integers
    terms: Floats
    """(cells, terms)"""
    played: Floats
    """(cells,) sum of weights."""
    score: Floats
    """(cells,) what of it the left side scored."""
    of_vote: Narrow
    """(rows,) the cell of each vote."""

    @classmethod
    def of(cls, votes: TermVotes, terms: Sequence[str]) -> Cells:
        abilities = votes.settings * len(votes.names)
        cells, of_vote = distinct(in_chunks(len(votes.weight), lambda rows: _pairs(votes.where(rows), abilities)))
        columns: list[Floats] = []
        for name in terms:  # each splits the cells so far
            values, place = _values(votes, name)
            split, of_vote = distinct(_split(of_vote, place, len(values)))
            so_far, value = np.divmod(split, len(values))
            cells, columns = cells[so_far], [*(column[so_far] for column in columns), values[value]]
        played, score = np.zeros(len(cells)), np.zeros(len(cells))
        for rows in chunks(len(votes.weight)):
            weight = votes.weight[rows]
            np.add.at(played, of_vote[rows], weight)
            np.add.at(score, of_vote[rows], weight * POINTS[kept(votes, "outcome")[rows]])
        by_term = np.stack(columns, axis=1) if terms else np.zeros((len(cells), 0))
        return cls(abilities, *np.divmod(cells, abilities), by_term, played, score, narrowed(of_vote))

    @property
    def size(self) -> int:
        return self.abilities + len(self.terms.T)

    def margins(self, x: Floats) -> Floats:
        """(cells,)"""
        return x[self.left] - x[self.right] + self.terms @ x[self.abilities :]

    def spread(self, values: Floats) -> Floats:
        """(n,) sum of a value per cell times the margin's gradient."""
        contestants = np.bincount(self.left, values, self.abilities) - np.bincount(self.right, values, self.abilities)
        return np.concatenate([contestants, values @ self.terms])

    def by_pair(self, values: Floats) -> Floats:
        """(abilities, abilities) sum of a value per cell, the left side's row first."""
        size = self.abilities
        return _sums(self.left * size + self.right, values, size * size).reshape(size, size)

    def information(self, values: Floats) -> Floats:
        """(n, n) sum of a value per cell times d d^T, d being the margin's gradient."""
        size, found = self.abilities, np.zeros((self.size, self.size))
        found[:size, :size] = assembled(self.by_pair(values))[:-1, :-1]
        for number, column in enumerate(self.terms.T):
            found[size + number] = found[:, size + number] = self.spread(values * column)
        return found

    def log_density(self, x: Floats) -> float:
        margin = self.margins(x)
        votes = self.score * margin - self.played * np.logaddexp(0.0, margin)
        virtual = 0.5 * PRIOR * (np.logaddexp(0.0, -x) + np.logaddexp(0.0, x))
        return float(votes.sum() - virtual.sum())

    def step(self, x: Floats) -> Floats:
        """(n,) Newton's."""
        slope = self.spread(self.score - self.played * sigmoid(self.margins(x))) - PRIOR * (sigmoid(x) - 0.5)
        return np.linalg.solve(self.hessian(x), slope).astype(float, copy=False)

    def hessian(self, x: Floats) -> Floats:
        """(n, n) of minus the log density."""
        p = sigmoid(self.margins(x))
        return self.information(self.played * p * (1.0 - p)) + np.diag(_virtual(x))

    def games(self) -> Games:
        """The same votes without the terms, all (settings k, settings k)."""
        played, score = self.by_pair(self.played), self.by_pair(self.score)
        return Games(played, score, (played, score, score), np.zeros_like(played))


@dataclass(frozen=True)
class TermFit:
    """x (n,) in natural units, of `cells`."""

    cells: Cells
    x: Floats
    covariance: Floats
    """(several, n, n) of which the widest holds."""
    quantile: float
    """Of 97.5 %, of Student's distribution with as many degrees of freedom as voters that vote alike much, less one."""


def known_terms(cells: Cells, terms: Sequence[str]) -> list[str]:
    """Those of `terms`, which the cells are by, that the votes tell from the contestants and from the terms before."""
    whole = cells.information(cells.played / 4.0)
    kept, found = list(range(cells.abilities)), []
    for number, name in enumerate(terms, start=cells.abilities):
        others = whole[np.ix_(kept, kept)]
        edge = whole[kept, number]
        own = whole[number, number] - edge @ np.linalg.pinv(others, rcond=1e-9, hermitian=True) @ edge
        if own >= max(LEAST, LEAST_SHARE * whole[number, number]):
            kept.append(number)
            found.append(name)
    return found


def fitted(votes: TermVotes, cells: Cells) -> TermFit:
    """Abilities and terms together."""
    x = likeliest(np.zeros(cells.size), cells.log_density, cells.step)
    bread = inverse(cells.hessian(x))
    expected, virtual = sigmoid(cells.margins(x)), np.diag(_virtual(x))
    found = [sandwich(bread, meat + virtual) for meat in _meats(votes, cells, expected)]
    if _people(votes) < FEW:
        found.append(bread)
    return TermFit(cells, x, np.stack(found), float(quantile(np.array(voters_that_count(votes) - 1.0))))


def _people(votes: TermVotes) -> int:
    """How many voters, each unknown one being another person."""
    voter = kept(votes, "voter")
    return len(distinct(voter)[0]) - bool((voter < 0).any()) + int(np.count_nonzero(voter < 0))


def voters_that_count(votes: TermVotes) -> float:
    """(sum n)² / sum n², n being what a voter's votes weigh: the number of voters if all voted alike much."""
    voter = kept(votes, "voter")
    known = voter >= 0
    cast = np.zeros(int(voter.max(initial=0)) + 1)
    for rows in chunks(len(voter)):
        of_known = known[rows]
        np.add.at(cast, voter[rows][of_known], votes.weight[rows][of_known])
    alone = votes.weight[~known]
    return float(votes.weight.sum() ** 2 / (np.sum(cast**2) + np.sum(alone**2)))


def board(votes: TermVotes, terms: Sequence[str]) -> AdjustedBoard:
    """What each term is worth, and the ratings with and without them. Empty without a vote."""
    if not len(votes.weight):
        return {"votes": 0, "terms": dict.fromkeys(terms), "models": {}}
    whole = Cells.of(votes, terms)
    known = known_terms(whole, terms)
    adjusted = fitted(votes, whole if known == list(terms) else Cells.of(votes, known))
    places = {name: adjusted.cells.abilities + number for number, name in enumerate(known)}
    worth = {name: _term(adjusted, places[name]) if name in places else None for name in terms}
    return {"votes": len(votes.weight), "terms": worth, "models": _models(votes, adjusted)}


def _sums(places: Integers, values: Floats, size: int) -> Floats:
    """(size,) of the values at each place."""
    return np.bincount(places, values, size).astype(float, copy=False)


def _virtual(x: Floats) -> Floats:
    """(n,) information of the virtual games."""
    return PRIOR * sigmoid(x) * sigmoid(-x)


def _pairs(votes: TermVotes, abilities: int) -> Integers:
    """(rows,) a number per pair of abilities, the left side's first."""
    found = _abilities(votes, "left")
    found *= abilities
    found += _abilities(votes, "right")
    return found


def _split(cell: Narrow, place: Narrow, values: int) -> Narrow:
    """(rows,) a number per cell and place among so many values."""
    return in_chunks(len(cell), lambda rows: np.multiply(cell[rows], values, dtype=np.int64) + place[rows])


def _abilities(votes: TermVotes, side: str) -> Integers:
    """(rows,) the place of a side's contestant among the abilities."""
    found = votes.setting
    found *= len(votes.names)
    found += kept(votes, side)
    return found


def _values(votes: TermVotes, term: str) -> tuple[Floats, Narrow]:
    """The different values of a term, and (rows,) the place of each row's."""
    if term in votes.measured:
        measured, at = np.unique(votes.column(term), return_inverse=True)
        found: Floats = measured.astype(np.float64)
        return found, at
    steps = in_chunks(len(votes.weight), lambda rows: _in_steps(votes.where(rows).column(term)))
    most = int(np.abs(steps).max(initial=0))
    values, place = distinct(np.add(steps, most, dtype=np.int16))
    return (values - most).astype(np.float64) * STEP, place


def _in_steps(values: Floats) -> Integers:
    """(rows,) in units of STEP, which are few."""
    return np.round(values / STEP).astype(np.int64)


def _alone(votes: TermVotes) -> Narrow:
    """(rows,) voters; where nobody is known, each row is a voter of its own."""
    if not (kept(votes, "voter") < 0).any():
        return kept(votes, "voter")
    voter = votes.voter
    return np.where(voter < 0, voter.max(initial=0) + 1 + np.arange(len(voter)), voter)


def _meats(votes: TermVotes, cells: Cells, expected: Floats) -> Iterator[Floats]:
    """(n, n) variance of the gradient, by voter and by network; not where there is only one. `expected` (cells,): what
    the left side scores."""
    alone = _alone(votes)
    clusters = [alone]
    if (kept(votes, "network") >= 0).any():
        clusters.append(np.where(votes.network >= 0, int(alone.max()) + 1 + votes.network, alone))
    for each in clusters:
        number = distinct(each)[1]
        many = int(number.max()) + 1
        if many > 1:
            yield many / (many - 1.0) * _squares(votes, number, cells, expected)


def _squares(votes: TermVotes, voter: Narrow, cells: Cells, expected: Floats) -> Floats:
    """(n, n) sum of g g^T over voters, g being the sum of weighed residuals times the margin's gradient. `voter`
    (rows,): numbers from 0."""
    outcome, weight, cell = kept(votes, "outcome"), votes.weight, cells.of_vote
    if not is_sorted(voter):
        order = np.argsort(voter, kind="stable")
        voter, outcome, weight, cell = (each[order] for each in (voter, outcome, weight, cell))
    found = np.zeros((cells.size, cells.size))
    for rows, place, voters in some_voters(voter):
        at = cell[rows].astype(np.int64)
        own = weight[rows] * (POINTS[outcome[rows]] - expected[at])
        gradients = PerVoter(place, cells.left[at], cells.right[at], (voters, cells.abilities))(own, -own)
        terms = [np.bincount(place, own * column[at], voters) for column in cells.terms.T]
        block = np.column_stack([gradients, *terms])
        found += block.T @ block
    return found


def _term(found: TermFit, place: int) -> Term:
    half_width = found.quantile * math.sqrt(float(found.covariance[:, place, place].max()))
    return _in_points(float(found.x[place]), half_width)


def _in_points(value: float, half_width: float, middle: float = 0.0) -> Term:
    """Natural units as points."""
    ends = (value, value - half_width, value + half_width)
    elo, low, high = (round(middle + SCALE * each, 2) + 0.0 for each in ends)
    return {"elo": elo, "low": low, "high": high}


def _models(votes: TermVotes, adjusted: TermFit) -> dict[str, Adjusted]:
    """Ratings with terms and without, about the mean of the boards, which brings settings together as they do."""
    games, size = adjusted.cells.games(), adjusted.cells.abilities
    mode = Mode.of_games(games, settings=votes.settings, prior=PRIOR, ties="half", offset_sd=OFFSET_SD / SCALE)
    centre = (np.eye(len(mode.mean)) - mode.mean) @ mode.lever  # (k, abilities) ratings = centre @ x
    without, found = centre @ mode.x[:-1], centre @ adjusted.x[:size]
    own = adjusted.covariance[:, :size, :size]
    deviation = np.sqrt(np.max([np.einsum("ij,jk,ik->i", centre, each, centre) for each in own], axis=0))
    models: dict[str, Adjusted] = {}
    for place, name in enumerate(votes.names):
        if mode.voted[place]:
            term = _in_points(float(found[place]), adjusted.quantile * float(deviation[place]), MEAN)
            usual = _in_points(float(without[place]), 0.0, MEAN)["elo"]
            models[name] = {"plain": usual, "rating": term["elo"], "low": term["low"], "high": term["high"]}
    return models
