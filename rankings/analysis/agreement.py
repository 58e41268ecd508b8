"""Do people prefer the side that reached the goal? Cohen's kappa between votes and success. No Django.

Both judge a battle left, right or even. A vote is even when it says tie or both bad; success is even when both sides
reached the goal equally often. Kappa is the share of agreement beyond what two judges with these habits would reach by
chance: 1 is perfect agreement, 0 none but chance's, below 0 less than that.

Its interval says how it would come out with other voters of the same kind, who vote as much: votes of one voter are
correlated, and all of them count as one observation (fit.clusters). Votes on free text, and on battles in which a side
failed, have no known success to be compared with.

Source: J. Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20 (1960).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

from rankings.fit.clusters import Clusters, effective, jackknife, proportion, score_interval
from rankings.tally.arrays import Booleans, Floats, Integers, Narrow, chunks, kept, narrowed
from rankings.tally.counts import UNKNOWN_VOTER
from rankings.tally.facts import EVEN, LEFT, RIGHT, VoteFacts

VOTES = np.array([LEFT, RIGHT, EVEN, EVEN], np.int8)
"""What each of OUTCOMES says of the sides."""
MIRRORED = np.array([RIGHT, LEFT, EVEN], np.int8)
CELLS = 9
"""Three judgements of votes by three of success, flattened."""
ALIKE, CONTRARY = np.array([4 * LEFT, 4 * RIGHT]), np.array([3 * LEFT + RIGHT, 3 * RIGHT + LEFT])
"""Cells in which both name a winner: the same one, and each another."""


class Kappa(NamedTuple):
    """`low` and `high`: the 95 % interval."""

    value: float
    low: float
    high: float


class Against(TypedDict):
    """Of the votes that name a winner where one side alone succeeded: how many named the other one, with the 95 %
    interval."""

    votes: int
    against: int
    share: float | None
    low: float | None
    high: float | None


class Agreement(TypedDict):
    """`table`: rows are votes, columns success, both left, right, even. `kappa` is null where it is undefined: without
    votes, or where both judges always say the same one thing. `parted`: votes and success disagree, by `AlarmRule`."""

    votes: int
    table: list[list[int]]
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    against: Against
    parted: bool


@dataclass(frozen=True)
class AlarmRule:
    """When to sound the alarm: enough votes, and even the friendly end of an interval beyond the threshold."""

    least_votes: int = 30
    kappa: float = 0.2
    """Kappa's upper end below this: at most slight agreement (Landis and Koch 1977)."""
    against: float = 0.33
    """The lower end of the share against the success winner above this: each third vote goes to a side that failed."""


def kappa(tables: Floats) -> Floats:
    """(n,) of tables (n, CELLS); nan where it is undefined: without votes, or where all say the same one thing."""
    p = tables.reshape(-1, 3, 3) / np.maximum(tables.sum(axis=1), 1.0)[:, None, None]
    observed, chance = np.trace(p, axis1=1, axis2=2), np.sum(p.sum(axis=1) * p.sum(axis=2), axis=1)
    defined = (tables.sum(axis=1) > 0) & (chance < 1.0 - 1e-9)
    return np.where(defined, (observed - chance) / np.where(defined, 1.0 - chance, 1.0), np.nan)


def share_against(tables: Floats) -> Floats:
    """(n,) of tables (n, CELLS); nan where no vote names a winner where one side alone succeeded."""
    contrary = tables[:, CONTRARY].sum(axis=1)
    votes = contrary + tables[:, ALIKE].sum(axis=1)
    return np.where(votes > 0, contrary / np.maximum(votes, 1.0), np.nan)


@dataclass(frozen=True)
class Judgements:
    """What votes and success say of the same battles, all (rows,): LEFT, RIGHT or EVEN."""

    vote: Narrow
    success: Narrow
    voter: Narrow
    """A number from 0, or UNKNOWN_VOTER."""

    @classmethod
    def of(cls, facts: VoteFacts, mirrored: Booleans | None = None) -> Judgements:
        """Of facts with a verdict. `mirrored` (rows,): battles to be seen from the other side."""
        vote, success, voter = VOTES[kept(facts, "vote")], kept(facts, "success"), facts.codes.kept("voter")
        if facts.values["voter"][:1] == ("",):  # sorted
            voter = np.where(voter == 0, voter.dtype.type(UNKNOWN_VOTER), voter)
        found = cls(vote, success, voter)
        return found if mirrored is None else found.mirrored(mirrored)

    def mirrored(self, rows: Booleans) -> Judgements:
        """Some of the battles (rows,) seen from the other side."""
        vote, success = (np.where(rows, MIRRORED[each], each) for each in (self.vote, self.success))
        return Judgements(vote, success, self.voter)

    def where(self, rows: Booleans | Integers) -> Judgements:
        return Judgements(self.vote[rows], self.success[rows], self.voter[rows])

    @property
    def tables(self) -> Clusters:
        """Of each voter, CELLS numbers: rows are votes, columns success."""
        return Clusters.of_cells(self.voter, 3 * self.vote + self.success, CELLS)


def agreement(facts: VoteFacts, rule: AlarmRule) -> Agreement:
    """Of the votes on battles whose success is known."""
    return of_voters(Judgements.of(_judged(facts)).tables, rule)


def by_task(facts: VoteFacts, rule: AlarmRule) -> dict[str, Agreement]:
    judged = _judged(facts)
    all_of_them, task = Judgements.of(judged), judged.codes.kept("task")
    return {
        judged.values["task"][code]: of_voters(all_of_them.where(task == code).tables, rule)
        for code in np.unique(task).tolist()
    }


def by_contestant(facts: VoteFacts, rule: AlarmRule) -> dict[str, Agreement]:
    """Each contestant's battles, with it taken for the left side: right then means its opponents."""
    judged = _judged(facts)
    names = np.union1d(judged.values["left"], judged.values["right"]).tolist()
    on_left = Judgements.of(judged)
    on_right = on_left.mirrored(np.ones(len(judged), dtype=bool))
    sides = [(_rows_by(judged, "left", names), on_left), (_rows_by(judged, "right", names), on_right)]
    found = {}
    for number, name in enumerate(names):
        own = [whole.where(rows) for by_name, whole in sides for rows in by_name[number]]
        votes = Judgements(*(np.concatenate(each) for each in zip(*map(_columns, own), strict=True)))
        if len(votes.vote):
            found[name] = of_voters(votes.tables, rule)
    return found


def _judged(facts: VoteFacts) -> VoteFacts:
    rows = facts.judged
    return facts if rows.all() else facts.where(rows)


def _columns(votes: Judgements) -> tuple[Narrow, Narrow, Narrow]:
    return votes.vote, votes.success, votes.voter


def _rows_by(facts: VoteFacts, side: str, names: Sequence[str]) -> list[list[Narrow]]:
    """The rows in which each of `names`, sorted, is on that side, in parts."""
    of_row = narrowed(np.searchsorted(names, facts.values[side]))[facts.codes.kept(side)]
    found: list[list[Narrow]] = [[] for _ in names]
    for rows in chunks(len(of_row)):
        order = np.argsort(of_row[rows], kind="stable")
        ends = np.searchsorted(of_row[rows][order], np.arange(len(names) + 1)).tolist()
        order = narrowed(order + rows.start)
        for own, some in zip(found, itertools.starmap(slice, itertools.pairwise(ends)), strict=True):
            own.append(order[some])
    return found


def of_voters(voters: Clusters, rule: AlarmRule) -> Agreement:
    """From the table of each voter."""
    table = voters.total
    found, against, votes = kappa_of(voters), _against(voters), int(table.sum())
    apart = found is not None and found.high < rule.kappa
    contrary = against["votes"] >= rule.least_votes and (against["low"] or 0.0) > rule.against
    return {
        "votes": votes,
        "table": [[int(count) for count in row] for row in table.reshape(3, 3)],
        "kappa": _rounded(found and found.value),
        "kappa_low": _rounded(found and found.low),
        "kappa_high": _rounded(found and found.high),
        "against": against,
        "parted": votes >= rule.least_votes and (apart or contrary),
    }


def kappa_of(voters: Clusters) -> Kappa | None:
    """None where it is undefined."""
    value = float(kappa(voters.total[None, :])[0])
    if math.isnan(value):
        return None
    spread = jackknife(voters, kappa, np.ones(CELLS))
    if spread.sd:
        return Kappa(value, max(-1.0, value - spread.half_width), min(1.0, value + spread.half_width))
    return _kappa_of_equals(voters, value)


def _kappa_of_equals(voters: Clusters, value: float) -> Kappa:
    """Where no voter differs from the others: as far as the share of agreement is known from so many voters."""
    p = voters.total.reshape(3, 3) / voters.total.sum()
    observed, chance = float(np.trace(p)), float(p.sum(axis=1) @ p.sum(axis=0))
    doubt = 1.0 / (1.0 - chance)
    low, high = score_interval(observed, effective(voters, np.ones(CELLS)))
    return Kappa(value, max(-1.0, value - doubt * (observed - low)), min(1.0, value + doubt * (high - observed)))


def _against(voters: Clusters) -> Against:
    against = int(voters.total[CONTRARY].sum())
    votes = against + int(voters.total[ALIKE].sum())
    if not votes:
        return {"votes": 0, "against": 0, "share": None, "low": None, "high": None}
    naming = np.isin(np.arange(CELLS), [*ALIKE, *CONTRARY]).astype(float)
    spread = jackknife(voters, share_against, naming)
    low, high = proportion(against / votes, spread, effective(voters, naming))
    return {
        "votes": votes,
        "against": against,
        "share": _rounded(against / votes),
        "low": _rounded(low),
        "high": _rounded(high),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
