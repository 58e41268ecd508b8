"""`manage.py evaluate ID --suite libero-spatial` (object, goal, 10): LIBERO's tasks by its own protocol.

Each task is played from its first start states in order, after ten actions that do nothing, for at most the suite's
steps. An episode has succeeded as soon as the goal is reached at the end of any control step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NotRequired, TypedDict

from proportions import Success, success_rate
from robots.benchmarks.published import COLUMNS, LIBERO, published
from robots.evaluation import Case, EvaluationError, EvaluationRun, opened
from robots.processes import Processes
from simulation import catalogue, optional_rows
from simulation.contracts import Listener, PolicyFailure, StepRecord

PREFIX = "libero-"
SUITES = COLUMNS[LIBERO]
STARTS = 50
CAVEAT = (
    "MuJoCo 3.14 and slim meshes instead of those of the published figures, and six tasks' start states "
    "settled anew: compare orders before numbers."
)


class Row(TypedDict):
    """Percentages of a policy: by suite, where a figure is known, and their mean."""

    name: str
    suites: Mapping[str, float]
    mean: float
    source: NotRequired[str]


PUBLISHED: Sequence[Row] = tuple(
    Row(name=row.name, suites=row.figures, mean=row.mean, source=row.source.name) for row in published(LIBERO)
)


@dataclass
class _Latch(Listener):
    """A listener that notices success at any step."""

    reached: bool = False

    def on_step(self, record: StepRecord) -> None:
        self.reached = self.reached or record.success


def is_suite(name: str) -> bool:
    return name.removeprefix(PREFIX) in SUITES and name.startswith(PREFIX)


def task_ids(suite: str) -> list[str]:
    """The tasks of a suite ("libero-goal") in LIBERO's order. Raises EvaluationError, which says what to run."""
    known = optional_rows.suites(scene.id for scene in catalogue.shipped_scenes())
    found = known.get(suite.removeprefix(PREFIX), [])
    if not found:
        raise EvaluationError(f"{suite} is not installed; run: {optional_rows.REMEDY}")
    return found


def cases(suite: str, chosen: Sequence[str] | None, episodes: int) -> list[Case]:
    """The first `episodes` start states of each task, with its own words."""
    known = task_ids(suite)
    if unknown := sorted({*(chosen or ())} - {*known}):
        raise EvaluationError(f"unknown task {unknown[0]!r} of suite {suite}; known: {', '.join(known)}")
    if episodes < 1:
        raise EvaluationError(f"expected 1..{STARTS} episodes per task, got {episodes}")
    return [
        Case(task, catalogue.wording(task, catalogue.task(task).slots[0]), start)
        for task in (chosen or known)
        for start in range(min(episodes, STARTS))
    ]


def measure(
    run: EvaluationRun, todo: Sequence[Case], processes: Processes, progress: Callable[[int], None] = lambda done: None
) -> dict[str, Success]:
    """Task -> its rate. The run's robot and scene are replaced by those of each task."""
    reached = dict.fromkeys((case.group for case in todo), 0)
    # All tasks in one go: at the end of each, one process would wait for the other.
    for done, (case, success) in enumerate(zip(todo, processes.outcomes(partial(_play, run), todo), strict=True), 1):
        reached[case.group] += success
        progress(done)
    episodes = Counter(case.group for case in todo)
    return {task: success_rate(successes, episodes[task]) for task, successes in reached.items()}


def _play(run: EvaluationRun, case: Case) -> bool:
    task = catalogue.task(case.group)
    there = replace(run, robot_id=task.robot_id, scene_id=task.scene_id)
    environment, player = opened(there, case.variation.variant)
    environment.reset(case.seed)
    latch = _Latch()
    try:
        player.play(environment, case.instruction, case.seed, [latch], task.limits(environment.world.control_hz))
    except PolicyFailure:
        return False
    finally:
        player.rest()
    return latch.reached


def report(model_id: str, suite: str, scores: Mapping[str, Success]) -> dict[str, Any]:
    """The JSON that `manage.py evaluate --suite libero-... --json` prints."""
    episodes, successes = (sum(score[name] for score in scores.values()) for name in ("episodes", "successes"))
    return {
        "model_id": model_id,
        "suite": suite,
        "tasks": scores,
        "overall": success_rate(successes, episodes),
        "published": PUBLISHED,
        "caveat": CAVEAT,
    }


def table(answer: Mapping[str, Any]) -> list[str]:
    """The lines that the command prints: ours by task with intervals, then what was published of the suite."""
    suite = answer["suite"].removeprefix(PREFIX)
    lines = [f"{answer['suite']}, success of {answer['model_id']}"]
    for name, row in [*answer["tasks"].items(), ("overall", answer["overall"])]:
        words = "" if name == "overall" else f"  {catalogue.wording(name, catalogue.task(name).slots[0])}"
        count = f"{row['successes']:4}/{row['episodes']:<4}"
        lines.append(f"{name:20}{count} {row['rate']:7.1%} [{row['low']:.1%}, {row['high']:.1%}]{words}")
    lines.append(f"published, {suite}, %:")
    lines += [f"  {row['name']:22}{row['suites'][suite]:6.1f}  {row['source']}" for row in answer["published"]]
    return [*lines, answer["caveat"]]
