"""The success rates of a policy: many seeded rollouts per task, played in parallel processes, with intervals."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from policies.folder import CARD, read_card, write_json, write_sums
from proportions import Success, success_rate
from robots.players import Player, PlayerSource, open_player
from robots.processes import Processes
from robots.seeds import HELD_OUT_SEEDS
from simulation import catalogue, suites
from simulation.contracts import Chunking, PolicyFailure, SimulationError
from simulation.environment import Environment
from simulation.suites import Shift
from simulation.variation import NO_VARIATION, Variation

TABLE, SHIFTS = "table", "shifts"
SUITES = (TABLE, SHIFTS)  # and those of robots.bridge_suite and robots.libero_suite


class EvaluationError(SimulationError, ValueError):
    code = "evaluation_error"


@dataclass(frozen=True)
class Case:
    """One rollout to play. It counts for the row `group` of the table."""

    group: str
    instruction: str
    seed: int
    variation: Variation = NO_VARIATION

    @property
    def name(self) -> str:
        """Unique in an evaluation."""
        return f"{self.group}/{self.seed}"


def cases(
    suite: str, task_ids: Sequence[str], episodes: int, seed: int, shifts: Sequence[str] | None = None
) -> list[Case]:
    """`episodes` rollouts per task (and per shift), with seeds from `seed` on, none of which training uses.

    Nothing is asked of things that a seed left out; a seed that leaves nothing to ask is passed over. Without `shifts`,
    all that change something in the scene of a task are played. Raises CatalogueError for others.
    """
    if suite not in SUITES:
        raise EvaluationError(f"unknown suite {suite!r}; known: {', '.join(SUITES)}, bridge, libero-*")
    if episodes < 1 or not 0 <= seed <= HELD_OUT_SEEDS - episodes:
        raise EvaluationError(f"expected seeds within 0..{HELD_OUT_SEEDS - 1}, got {episodes} from {seed} on")
    if suite == TABLE:
        return [case for task in task_ids for case in _cases(Shift(TABLE), task, task, episodes, seed)]
    groups = [(shift, task) for task in task_ids for shift in suites.shifts_in(catalogue.task(task).scene_id, shifts)]
    return [case for shift, task in groups for case in _cases(shift, task, f"{shift.id}/{task}", episodes, seed)]


def default_tasks(card: Mapping[str, Any], robot_id: str, scene_id: str) -> list[str]:
    """Of a world: the tasks that a policy's card measures, so that its figures stay comparable, or the suggested."""
    here = [task for task in catalogue.tasks() if (task.robot_id, task.scene_id) == (robot_id, scene_id)]
    measured = ((card.get("measured") or {}).get(TABLE) or {}).get("tasks") or {}
    return [task.id for task in here if task.id in measured] or [task.id for task in here if task.suggested]


def _cases(shift: Shift, task_id: str, group: str, episodes: int, seed: int) -> Iterator[Case]:
    """Goal, wording and camera of an episode depend on its seed alone: every policy gets the same."""
    seeds = (number for number in itertools.count(seed) if _askable(task_id, number))
    for number in itertools.islice(seeds, episodes):
        random = np.random.default_rng([number, 7])
        fillings = _askable(task_id, number)
        slots = fillings[int(random.integers(len(fillings)))]
        wordings = catalogue.phrasings(task_id, slots, train=not shift.kept_out)
        text = wordings[int(random.integers(len(wordings)))].text
        yield Case(group, text, number, shift.draw(random))


def _askable(task_id: str, seed: int) -> list[Mapping[str, str]]:
    """The fillings of a task that name nothing that the seed left out."""
    task = catalogue.task(task_id)
    if not catalogue.scene(task.scene_id).draws:
        return list(task.slots)
    out = _left_out(task.robot_id, task.scene_id, seed)
    return [slots for slots in task.slots if out.isdisjoint(slots.values())]


@cache
def _left_out(robot_id: str, scene_id: str, seed: int) -> frozenset[str]:
    environment = _bare(robot_id, scene_id)
    environment.reset(seed)
    return frozenset(environment.left_out())


@cache
def _bare(robot_id: str, scene_id: str) -> Environment:
    return Environment(robot_id, scene_id)


@dataclass(frozen=True)
class EvaluationRun:
    """How to play all cases. `chunking` replaces the policy's own, for comparing. `device`: the CPU by default."""

    player: PlayerSource
    robot_id: str = "widowx"
    scene_id: str = "table"
    chunking: Chunking | None = None
    device: str | None = None


class Keeps(Protocol):
    """What earlier runs have played (robots.kept)."""

    @property
    def played(self) -> Mapping[str, bool]: ...

    def add(self, case: Case, success: bool) -> None: ...


def measure(
    run: EvaluationRun,
    todo: Sequence[Case],
    processes: Processes,
    progress: Callable[[int], None] = lambda done: None,
    kept: Keeps | None = None,
) -> dict[str, Success]:
    """The success rate of each group. A rollout in which the policy fails has not reached the goal.

    What `kept` has is not played again, and what is played is added to it.
    """
    found = {case.name: kept.played[case.name] for case in todo if kept and case.name in kept.played}
    missing = [case for case in todo if case.name not in found]
    progress(len(found))
    for case, success in zip(missing, processes.outcomes(partial(_play, run), missing), strict=True):
        found[case.name] = success
        if kept:
            kept.add(case, success)
        progress(len(found))
    counts: dict[str, list[int]] = {case.group: [0, 0] for case in todo}
    for case in todo:
        counts[case.group][0] += 1
        counts[case.group][1] += found[case.name]
    return {group: success_rate(successes, episodes) for group, (episodes, successes) in counts.items()}


def _play(run: EvaluationRun, case: Case) -> bool:
    environment, player = opened(run, case.variation.variant)
    environment.reset(case.seed, case.variation)
    try:
        return player.play(environment, case.instruction, case.seed).success is True
    except PolicyFailure:
        return False
    finally:
        player.rest()


@cache
def opened(run: EvaluationRun, variant: str) -> tuple[Environment, Player]:
    """What a process keeps open between cases."""
    environment = Environment(run.robot_id, run.scene_id, Variation(variant=variant))
    player = open_player(run.player, environment, run.device)
    return environment, replace(player, chunking=run.chunking or player.chunking)


def report(model_id: str, scores: Mapping[str, Success]) -> dict[str, Any]:
    """The JSON that `manage.py evaluate --json` prints."""
    episodes, successes = (sum(score[name] for score in scores.values()) for name in ("episodes", "successes"))
    return {"model_id": model_id, "tasks": scores, "overall": success_rate(successes, episodes)}


def record(run: EvaluationRun, suite: str, seed: int, answer: Mapping[str, Any]) -> None:
    """Write the figures of this suite into the policy's own card, and renew SHA256SUMS."""
    folder = Path(run.player.model_path)
    card = read_card(folder)
    measured = dict(card.measured)
    earlier = measured.get(suite, {}).get("tasks", {})
    measured[suite] = {"first_seed": seed, "tasks": {**earlier, **answer["tasks"]}}
    write_json(folder / CARD, replace(card, measured=measured).to_json())
    write_sums(folder)
