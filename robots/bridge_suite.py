"""`manage.py evaluate ID --suite bridge`: the four Bridge tasks of SimplerEnv, each from its 24 starts in order.

Every episode is played to its last step. SimplerEnv counts success there; some of the codes that report its figures
count it at any step ("latched"). Both are told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NotRequired, TypedDict

import numpy as np

from proportions import Success, success_rate
from robots.benchmarks.published import BRIDGE, COLUMNS, published
from robots.evaluation import Case, EvaluationError, EvaluationRun, opened
from robots.processes import Processes
from simulation import catalogue
from simulation.contracts import Listener, PolicyFailure, StepRecord
from simulation.environment import Environment
from simulation.worlds.bridge import STARTS

TASKS = COLUMNS[BRIDGE]
WHOLLY = {"bridge_carrot": "carrot", "bridge_cubes": "green_cube"}
"""Task -> the thing that may touch nothing but its target and the robot when it counts as put there."""
CAVEAT = "Another engine and other pictures than SimplerEnv's: compare orders, not numbers."


class Row(TypedDict):
    """Percentages: `tasks` by task id. `source`: where a published row stands."""

    name: str
    tasks: Mapping[str, float]
    mean: float
    source: NotRequired[str]


PUBLISHED: Sequence[Row] = tuple(
    Row(name=row.name, tasks=row.figures, mean=row.mean, source=row.source.name) for row in published(BRIDGE)
)


class Outcome(TypedDict):
    """Of one episode, or the rates of several."""

    last: Any
    latched: Any


@dataclass
class _Judge(Listener):
    """A listener that applies SimplerEnv's rule to every step."""

    environment: Environment
    task_id: str
    steps: list[bool] = field(default_factory=list)

    def on_step(self, record: StepRecord) -> None:
        wholly = self.task_id not in WHOLLY or not on_table(self.environment, WHOLLY[self.task_id])
        self.steps.append(record.success and wholly)


def on_table(environment: Environment, thing: str) -> bool:
    """Whether the thing touches the table top."""
    model, pairs = environment.model, environment.data.contact.geom
    bodies = model.geom_bodyid[pairs]
    table = (pairs == model.geom("table").id).any(axis=1)
    return bool((table & (bodies == model.body(thing).id).any(axis=1)).any())


def cases(task_ids: Sequence[str], episodes: int = STARTS) -> list[Case]:
    """The first `episodes` starts of each task, with the published instruction."""
    if unknown := sorted({*task_ids} - {*TASKS}):
        raise EvaluationError(f"unknown task {unknown[0]!r} of suite {BRIDGE}; known: {', '.join(TASKS)}")
    if episodes < 1:
        raise EvaluationError(f"expected 1..{STARTS} episodes per task, got {episodes}")
    return [
        Case(task, catalogue.wording(task, catalogue.task(task).slots[0]), start)
        for task in task_ids
        for start in range(min(episodes, STARTS))
    ]


def measure(
    run: EvaluationRun, todo: Sequence[Case], processes: Processes, progress: Callable[[int], None] = lambda done: None
) -> dict[str, Outcome]:
    """Task -> its rates. The run's scene is replaced by that of each task."""
    played: dict[str, list[Outcome]] = {case.group: [] for case in todo}
    for done, (case, outcome) in enumerate(zip(todo, processes.outcomes(partial(_play, run), todo), strict=True), 1):
        played[case.group].append(outcome)
        progress(done)
    return {task: _rates(outcomes) for task, outcomes in played.items()}


def _play(run: EvaluationRun, case: Case) -> Outcome:
    there = replace(run, scene_id=catalogue.task(case.group).scene_id)
    environment, player = opened(there, case.variation.variant)
    environment.reset(case.seed)
    judge = _Judge(environment, case.group)
    limits = replace(catalogue.task(case.group).limits(environment.world.control_hz), until_success=False)
    try:
        player.play(environment, case.instruction, case.seed, [judge], limits)
    except PolicyFailure:
        return {"last": False, "latched": False}
    return {"last": bool(judge.steps) and judge.steps[-1], "latched": any(judge.steps)}


def _rates(played: Sequence[Outcome]) -> Outcome:
    rates = {name: success_rate(sum(bool(one[name]) for one in played), len(played)) for name in ("last", "latched")}
    return {"last": rates["last"], "latched": rates["latched"]}


def report(model_id: str, scores: Mapping[str, Outcome]) -> dict[str, Any]:
    """The JSON that `manage.py evaluate --suite bridge --json` prints."""
    overall = {kind: _sum([score[kind] for score in scores.values()]) for kind in ("last", "latched")}
    return {
        "model_id": model_id,
        "suite": BRIDGE,
        "tasks": scores,
        "overall": overall,
        "published": PUBLISHED,
        "caveat": CAVEAT,
    }


def _sum(scores: Sequence[Success]) -> Success:
    return success_rate(sum(one["successes"] for one in scores), sum(one["episodes"] for one in scores))


def table(answer: Mapping[str, Any]) -> list[str]:
    """The lines that the command prints: ours in both ways of counting, then what was published."""
    ours = [_own(answer, "last", "at the last step"), _own(answer, "latched", "at any step")]
    named = [*ours, *answer["published"]]
    width = max(len(row["name"]) for row in named) + 2
    head = "".join(f"{task.removeprefix('bridge_'):>10}" for task in TASKS) + f"{'mean':>10}"
    lines = [f"{'success, %':{width}}{head}"]
    for row in named:
        figures = "".join(f"{row['tasks'][task]:10.1f}" if task in row["tasks"] else f"{'-':>10}" for task in TASKS)
        lines.append(f"{row['name']:{width}}{figures}{row['mean']:10.1f}  {row.get('source', '')}".rstrip())
    counts = ", ".join(
        f"{task.removeprefix('bridge_')} {row['last']['episodes']}" for task, row in answer["tasks"].items()
    )
    return [*lines, f"Episodes of ours: {counts}.", answer["caveat"]]


def _own(answer: Mapping[str, Any], kind: str, told: str) -> Row:
    rates = {task: 100 * row[kind]["rate"] for task, row in answer["tasks"].items()}
    return Row(name=f"{answer['model_id']}, {told}", tasks=rates, mean=float(np.mean(list(rates.values()))))
