"""What pairs say: the difference in success with its intervals, tests, and whether it is settled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proportions import success_rate
from proportions.paired import PairedCounts, mcnemar_exact, tango_interval
from proportions.sequential import evidence
from robots.studies.playing import Pair

SIDES = ("a", "b")


def counts_of(pairs: Iterable[Pair]) -> PairedCounts:
    """`first` is a."""
    numbers = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for pair in pairs:
        numbers[pair.a.success, pair.b.success] += 1
    return PairedCounts(*numbers.values())


def compared(
    pairs: Sequence[Pair], names: Mapping[str, str], margin: float, planned: int, fixed: bool
) -> dict[str, Any]:
    """The JSON of `manage.py compare`. `names`: of the sides a and b. `planned`: pairs of the whole study.

    `fixed`: the number of pairs was fixed before, which `mcnemar_p` and the intervals of `difference` need; what stands
    in `sequential` holds in any case. Raises ValueError for no pairs.
    """
    groups = list(dict.fromkeys(pair.group for pair in pairs))
    told = evidence(counts_of(pairs), margin)
    verdict = {"first": names["a"], "second": names["b"], "alike": "alike", None: None}[told["verdict"]]
    return {
        **{side: {"model_id": names[side], **_side([getattr(pair, side) for pair in pairs])} for side in SIDES},
        **_paired(pairs),
        "sequential": {**told, "verdict": verdict, "margin": margin},
        "tasks": {group: _task([pair for pair in pairs if pair.group == group]) for group in groups},
        "planned": planned,
        "fixed_number": fixed,
    }


def _task(pairs: Sequence[Pair]) -> dict[str, Any]:
    success = {side: _rate([getattr(pair, side) for pair in pairs]) for side in SIDES}
    return {**success, **_paired(pairs)}


def _paired(pairs: Sequence[Pair]) -> dict[str, Any]:
    counts = counts_of(pairs)
    table = {"both": counts.both, "only_a": counts.first, "only_b": counts.second, "neither": counts.neither}
    p = mcnemar_exact(int(counts.first), int(counts.second))
    return {"pairs": len(pairs), "outcomes": table, "difference": tango_interval(counts), "mcnemar_p": p}


def _side(outcomes: Sequence[Any]) -> dict[str, Any]:
    steps = sum(outcome.steps for outcome in outcomes)
    return {
        **_rate(outcomes),
        "progress": sum(outcome.progress for outcome in outcomes) / len(outcomes),
        "failures": sum(bool(outcome.error) for outcome in outcomes),
        "infer_ms_per_step": sum(outcome.infer_ms for outcome in outcomes) / steps if steps else None,
    }


def _rate(outcomes: Sequence[Any]) -> dict[str, Any]:
    return {**success_rate(sum(outcome.success for outcome in outcomes), len(outcomes))}
