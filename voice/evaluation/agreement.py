"""How often a judge prefers the agent that people prefer, and how often it would by chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from proportions import wilson

LEFT, RIGHT, NEITHER = "left", "right", "neither"


class Agreement(NamedTuple):
    """`share`: of battles in which both say the same of left, right and neither; `low`, `high`: its interval of 95 %
    (Wilson). `kappa`: Cohen's, 0 for what chance gives and 1 for always; None where chance alone would always agree."""

    battles: int
    share: float
    low: float
    high: float
    kappa: float | None


def preferred(left: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    """The side that a judge's verdicts prefer: task done, then coherence with instructions followed, then fewer
    hallucinations."""
    one, other = (_merit(verdict) for verdict in (left, right))
    return NEITHER if one == other else LEFT if one > other else RIGHT


def _merit(verdict: Mapping[str, Any]) -> tuple[bool, int, int]:
    return (
        bool(verdict["task_success"]),
        verdict["coherence"] + verdict["instruction_following"],
        -verdict["hallucinations"],
    )


def agreement(pairs: Sequence[tuple[str, str]]) -> Agreement | None:
    """Of what people and the judge prefer in each battle; None without one."""
    if not pairs:
        return None
    count = len(pairs)
    same = sum(people == judge for people, judge in pairs)
    people, judge = (Counter(each) for each in zip(*pairs, strict=True))
    chance = sum(people[side] * judge[side] for side in people) / count**2
    kappa = (same / count - chance) / (1 - chance) if chance < 1 else None
    return Agreement(count, same / count, *wilson(same, count), kappa)
