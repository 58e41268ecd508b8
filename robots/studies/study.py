"""Playing a study to its end: the pairs that are not there yet, in an order in which all tasks advance together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from proportions.sequential import evidence
from robots.evaluation import Case, EvaluationRun
from robots.processes import Processes
from robots.studies.comparing import counts_of
from robots.studies.folder import StudyFolder
from robots.studies.playing import FAILED, Pair, play_pair
from simulation.contracts import SimulationError

MOST_IN_A_ROW = 5
Progress = Callable[[Sequence[Pair]], None]


class PolicyKeepsFailing(SimulationError):
    """A side failed in one pair after the other: its server is away, or its contract is wrong."""


@dataclass(frozen=True)
class Study:
    """`until_settled`: stop as soon as the pairs so far, which are looked at after each, settle it. `margin`: of a
    difference that does not matter, 0 for none."""

    a: EvaluationRun
    b: EvaluationRun
    cases: Sequence[Case]
    margin: float = 0.0
    until_settled: bool = True

    def is_settled(self, pairs: Sequence[Pair]) -> bool:
        return evidence(counts_of(pairs), self.margin)["verdict"] is not None


def in_turn(cases: Sequence[Case]) -> list[Case]:
    """One of each group, then the next of each: pairs that were played until some moment are of all tasks."""
    seen: dict[str, int] = defaultdict(int)
    numbered = []
    for case in cases:
        numbered.append((seen[case.group], case))
        seen[case.group] += 1
    return [case for _, case in sorted(numbered, key=lambda each: each[0])]


def conduct(
    study: Study, folder: StudyFolder, processes: Processes, progress: Progress = lambda pairs: None
) -> list[Pair]:
    """Play what the folder does not have yet. Answers all pairs of the study, those of earlier runs included.

    Raises PolicyKeepsFailing. What was played until then is kept.
    """
    wanted = {case.name for case in study.cases}
    pairs = [pair for pair in folder.pairs() if pair.name in wanted]
    known = {pair.name for pair in pairs}
    missing = [case for case in study.cases if case.name not in known]
    progress(pairs)
    if study.until_settled and study.is_settled(pairs):
        return pairs
    for pair in processes.outcomes(partial(play_pair, study.a, study.b), missing):
        folder.add(pair)
        pairs.append(pair)
        progress(pairs)
        check_failures(pairs)
        if study.until_settled and study.is_settled(pairs):
            break
    return pairs


def check_failures(pairs: Sequence[Pair]) -> None:
    """Raises PolicyKeepsFailing."""
    if failing := keeps_failing(pairs):
        side, error = failing
        raise PolicyKeepsFailing(
            f"policy {side} failed in {MOST_IN_A_ROW} episodes in a row, the last time with: {error}. "
            "Once it plays again, --retry-failed plays these pairs anew"
        )


def keeps_failing(pairs: Sequence[Pair]) -> tuple[str, str] | None:
    """The side that failed in each of the last pairs, with its last error."""
    last = pairs[-MOST_IN_A_ROW:]
    for side in ("a", "b"):
        failures = [getattr(pair, side) for pair in last if getattr(pair, side).ended == FAILED]
        if len(failures) == MOST_IN_A_ROW:
            return side, failures[-1].error
    return None
