"""Is A better than B at this task? What a publication says about two contestants. Numbers in, numbers out, no
Django."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from rankings.analysis.by_task import ByTask
from rankings.analysis.settled import Settled
from rankings.analysis.success_rates import ALL_TASKS, SuccessRow
from rankings.fit.bradley_terry import SCALE
from rankings.fit.posterior import sigmoid
from rankings.fit.student import Z
from rankings.tally.counts import MIRRORED
from rankings.tally.table import Board

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS /= WEIGHTS.sum()
"""The mean of f(x) for x ~ N(0, 1) is f(NODES) @ WEIGHTS."""


@dataclass(frozen=True)
class DifferenceBelief:
    """About a difference of two ratings: normal, in Elo points. `deviation` infinite: nothing is known."""

    mean: float
    deviation: float

    @property
    def known(self) -> bool:
        return math.isfinite(self.deviation)

    @property
    def chance(self) -> float:
        """That the difference is above 0; one half where nothing is known."""
        if not self.deviation:
            return 0.5 + 0.5 * float(np.sign(self.mean))
        return 0.5 * math.erfc(-self.mean / self.deviation / math.sqrt(2.0))

    @property
    def share(self) -> float:
        """The share of votes to be expected, ties counting half: the mean of sigmoid(difference).
        One half where nothing is known."""
        if not self.known:
            return 0.5
        return float(sigmoid((self.mean + self.deviation * NODES) / SCALE) @ WEIGHTS)

    @property
    def low(self) -> float:
        """Of the 95 % interval."""
        return self.mean - Z * self.deviation

    @property
    def high(self) -> float:
        return self.mean + Z * self.deviation


NOTHING = DifferenceBelief(0.0, math.inf)


class HeadToHead(TypedDict):
    """How the votes on the two went, as the first of them sees it."""

    wins: int
    losses: int
    ties: int
    both_bad: int


class Comparison(TypedDict):
    """Is `a` better than `b`? `task` null: over all tasks, as the board says. `robot_id` null: all settings together.

    `chance`: the probability that it is. `share`: of the next votes on the two, what `a` is expected to score, ties
    counting half. `difference` [Elo points] with its 95 % interval `low` to `high`. All null where no votes connect
    the two. `offset` [Elo points]: the standard deviation of abilities at one task about those in general, as found;
    null over all tasks. `record`: of the `votes` on just these two. `physics_a`, `physics_b`: how often each reached
    the goal, whoever played beside it and in whatever setting; null where it has not played.
    """

    a: str
    b: str
    task: str | None
    robot_id: str | None
    chance: float | None
    share: float | None
    difference: float | None
    low: float | None
    high: float | None
    offset: float | None
    votes: int
    record: HeadToHead
    physics_a: SuccessRow | None
    physics_b: SuccessRow | None


@dataclass(frozen=True)
class PairEvidence:
    """What a publication keeps of pairs: `settled` by a board's name, `by_task` by setting, `success_rates` by task."""

    settled: Mapping[str, Settled]
    by_task: Mapping[str, ByTask]
    success_rates: Mapping[str, Sequence[SuccessRow]]

    def belief(self, a: str, b: str, *, task: str = "", setting: str = "") -> DifferenceBelief:
        """About the rating of a less that of b. `task` empty: the board's; `setting` empty: the mean of the settings on
        which votes connect the two, each with its say."""
        if not task:
            return _of_board(self.settled.get(Board(setting=setting).name), a, b)
        found = [each for own in self._settings(setting) if (each := _of_task(own, task, a, b)).known]
        if not found:
            return NOTHING
        mean = sum(each.mean for each in found) / len(found)
        return DifferenceBelief(mean, math.sqrt(sum(each.deviation**2 for each in found)) / len(found))

    def record(self, a: str, b: str, *, task: str = "", setting: str = "") -> HeadToHead:
        """`task` empty: of all votes, those without a task too."""
        votes = [0, 0, 0, 0]
        for own in self._settings(setting):
            for name, each in own["tasks"].items():
                if not task or name == task:
                    votes = [sum(both) for both in zip(votes, _seen_by(each["records"], a, b), strict=True)]
        wins, losses, ties, both_bad = votes
        return {"wins": wins, "losses": losses, "ties": ties, "both_bad": both_bad}

    def compare(self, a: str, b: str, *, task: str = "", setting: str = "") -> Comparison:
        belief, record = self.belief(a, b, task=task, setting=setting), self.record(a, b, task=task, setting=setting)
        offsets = [own["offset"] for own in self._settings(setting) if task in own["tasks"]]
        rows = {row["model_id"]: row for row in self.success_rates.get(task or ALL_TASKS, [])}
        return {
            "a": a,
            "b": b,
            "task": task or None,
            "robot_id": setting or None,
            "chance": _fraction(belief.chance) if belief.known else None,
            "share": _fraction(belief.share) if belief.known else None,
            "difference": _points(belief.mean) if belief.known else None,
            "low": _points(belief.low) if belief.known else None,
            "high": _points(belief.high) if belief.known else None,
            "offset": sum(offsets) / len(offsets) if task and offsets and belief.known else None,
            "votes": record["wins"] + record["losses"] + record["ties"] + record["both_bad"],
            "record": record,
            "physics_a": rows.get(a),
            "physics_b": rows.get(b),
        }

    def tasks(self, setting: str = "") -> list[str]:
        """That can be asked about, sorted."""
        return sorted({task for own in self._settings(setting) for task in own["tasks"] if task})

    def _settings(self, setting: str) -> list[ByTask]:
        return [own for name, own in self.by_task.items() if not setting or name == setting]


def _of_board(board: Settled | None, a: str, b: str) -> DifferenceBelief:
    if board is None or a not in board["names"] or b not in board["names"]:
        return NOTHING
    one, other = board["names"].index(a), board["names"].index(b)
    difference, deviation = board["differences"][one][other], board["deviations"][one][other]
    return NOTHING if difference is None or deviation is None else DifferenceBelief(difference, deviation)


def _of_task(own: ByTask, task: str, a: str, b: str) -> DifferenceBelief:
    if task not in own["tasks"] or a not in own["names"] or b not in own["names"]:
        return NOTHING
    one, other = own["names"].index(a), own["names"].index(b)
    if own["groups"][one] != own["groups"][other]:
        return NOTHING
    ratings, deviations = own["tasks"][task]["ratings"], own["tasks"][task]["deviations"]
    return DifferenceBelief(ratings[one] - ratings[other], deviations[max(one, other)][min(one, other)])


def _seen_by(records: Mapping[str, Mapping[str, list[int]]], a: str, b: str) -> list[int]:
    if a < b:
        return records.get(a, {}).get(b, [0, 0, 0, 0])
    found = records.get(b, {}).get(a, [0, 0, 0, 0])
    return [found[place] for place in MIRRORED]


def _fraction(value: float) -> float:
    return round(value, 4)


def _points(value: float) -> float:
    return round(value, 1) + 0.0
