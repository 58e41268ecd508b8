"""Do people prefer whoever reached the goal? Cohen's kappa between votes and physics. No Django.

Both judge a battle left, right or even. A vote is even when it says tie or both bad; physics is even when both sides
reached the goal equally often. Kappa is the share of agreement beyond what two judges with these habits would reach by
chance: 1 is perfect agreement, 0 none but chance's, below 0 less than that.

Sources: J. Cohen, A coefficient of agreement for nominal scales, Educ. Psychol. Meas. 20 (1960); the standard error:
J. Fleiss, J. Cohen, B. Everitt, Large sample standard errors of kappa and weighted kappa, Psychol. Bull. 72 (1969).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

from policies.measured import wilson
from rankings.counts import Integers
from rankings.facts import EVEN, LEFT, RIGHT, VoteFacts
from rankings.graph import Booleans

Z = 1.959963984540054
VOTES = np.array([LEFT, RIGHT, EVEN, EVEN])
"""What each of OUTCOMES says of the sides."""
MIRRORED = np.array([RIGHT, LEFT, EVEN])


class Kappa(NamedTuple):
    """`low` and `high`: the 95 % interval."""

    value: float
    low: float
    high: float


class Against(TypedDict):
    """Of the votes that name a winner where physics does: how many named the other one, with the Wilson interval."""

    votes: int
    against: int
    share: float | None
    low: float | None
    high: float | None


class Agreement(TypedDict):
    """`table`: rows are votes, columns physics, both left, right, even. `kappa` is null where it is undefined: without
    votes, or where both judges always say the same one thing. `parted` says that votes and physics part: see `Rule`."""

    votes: int
    table: list[list[int]]
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    against: Against
    parted: bool


@dataclass(frozen=True)
class Rule:
    """When to sound the alarm: enough votes, and even the friendly end of an interval beyond the line."""

    least_votes: int = 30
    kappa: float = 0.2
    """Kappa's upper end below this: at most slight agreement (Landis and Koch 1977)."""
    against: float = 0.33
    """The lower end of the share against the success winner above this: each third vote goes to who failed."""


def kappa(table: Integers) -> Kappa | None:
    """Kappa of a square table of counts [judge one, judge two]; None where it is undefined."""
    total = int(table.sum())
    if not total:
        return None
    p = table / total
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, chance = float(np.trace(p)), float(rows @ columns)
    if math.isclose(chance, 1.0):
        return None
    value = (observed - chance) / (1.0 - chance)
    agree = np.diag(p) @ (1.0 - (rows + columns) * (1.0 - value)) ** 2
    apart = p * (columns[:, None] + rows[None, :]) ** 2
    disagree = (1.0 - value) ** 2 * (apart.sum() - np.trace(apart))
    spread = agree + disagree - (value - chance * (1.0 - value)) ** 2
    half_width = Z * math.sqrt(max(0.0, float(spread)) / total) / (1.0 - chance)
    return Kappa(value, max(-1.0, value - half_width), min(1.0, value + half_width))


@dataclass(frozen=True)
class Judgements:
    """What votes and physics said of the same battles, all (rows,): LEFT, RIGHT or EVEN."""

    vote: Integers
    physics: Integers

    @classmethod
    def of(cls, facts: VoteFacts, mirrored: Booleans | None = None) -> Judgements:
        """Of facts with a verdict. `mirrored` (rows,): battles to be seen from the other side."""
        vote, physics = VOTES[facts.vote], facts.physics
        if mirrored is not None:
            vote, physics = np.where(mirrored, MIRRORED[vote], vote), np.where(mirrored, MIRRORED[physics], physics)
        return cls(vote, physics)

    @property
    def table(self) -> Integers:
        """(3, 3) rows are votes, columns physics."""
        return np.bincount(3 * self.vote + self.physics, minlength=9).reshape(3, 3)


def agreement(facts: VoteFacts, rule: Rule) -> Agreement:
    """Of the votes on whose battle physics has a verdict."""
    return _told(Judgements.of(facts.where(facts.judged)).table, rule)


def by_task(facts: VoteFacts, rule: Rule) -> dict[str, Agreement]:
    judged = facts.where(facts.judged)
    task = judged.codes["task"]
    return {
        judged.values["task"][code]: agreement(judged.where(task == code), rule) for code in np.unique(task).tolist()
    }


def by_policy(facts: VoteFacts, rule: Rule) -> dict[str, Agreement]:
    """Each policy's battles, with the policy taken for the left side: right then means its opponents."""
    judged = facts.where(facts.judged)
    sides = [{judged.values[side][code] for code in np.unique(judged.codes[side])} for side in ("left", "right")]
    return {policy: _told(_battles_of(policy, judged).table, rule) for policy in sorted(set.union(*sides))}


def _battles_of(policy: str, judged: VoteFacts) -> Judgements:
    left, right = (judged.codes[side] == _place(judged.values[side], policy) for side in ("left", "right"))
    rows = left | right
    return Judgements.of(judged.where(rows), right[rows])


def _place(values: tuple[str, ...], value: str) -> int:
    """-1 where it is not among them."""
    return values.index(value) if value in values else -1


def _told(table: Integers, rule: Rule) -> Agreement:
    found, against = kappa(table), _against(table)
    enough = int(table.sum()) >= rule.least_votes
    apart = found is not None and found.high < rule.kappa
    contrary = against["votes"] >= rule.least_votes and (against["low"] or 0.0) > rule.against
    return {
        "votes": int(table.sum()),
        "table": [[int(count) for count in row] for row in table],
        "kappa": _rounded(found and found.value),
        "kappa_low": _rounded(found and found.low),
        "kappa_high": _rounded(found and found.high),
        "against": against,
        "parted": enough and (apart or contrary),
    }


def _against(table: Integers) -> Against:
    against = int(table[LEFT, RIGHT] + table[RIGHT, LEFT])
    votes = against + int(table[LEFT, LEFT] + table[RIGHT, RIGHT])
    if not votes:
        return {"votes": 0, "against": 0, "share": None, "low": None, "high": None}
    low, high = wilson(against, votes)
    return {
        "votes": votes,
        "against": against,
        "share": _rounded(against / votes),
        "low": _rounded(low),
        "high": _rounded(high),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
