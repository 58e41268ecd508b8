"""`manage.py evaluate ID`: a policy's success rates, with intervals."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    requires_system_checks: tuple[str, ...] = ()  # they load the whole site, and this loads little of it
    help = "Measure a policy's success rates on scenes that no policy was trained on, with 95 % Wilson intervals."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("policy", help="policy id, or the path of a policy folder")
        parser.add_argument(
            "--task", action="append", help="only this task; may be given again (default: those that its card measures)"
        )
        parser.add_argument(
            "--suite",
            default="table",
            help="table, shifts: what differs from training, bridge: SimplerEnv's tasks, or libero-spatial, -object,"
            " -goal, -10 (make libero)",
        )
        parser.add_argument("--shift", action="append", help="with --suite shifts: only this shift; may be given again")
        parser.add_argument(
            "--episodes",
            type=int,
            default=200,
            help="per task (and shift); of bridge at most its 24 starts, of LIBERO its 50",
        )
        parser.add_argument("--seed", type=int, default=0, help="first seed; below 1000000, which training never uses")
        parser.add_argument("--execute", type=int, help="actions to play of each chunk (default: the policy's number)")
        parser.add_argument("--ensemble", type=float, help="temporal ensembling with this weight per step of age")
        parser.add_argument("--robot", default=settings.DEFAULT_ROBOT)
        parser.add_argument("--scene", default=settings.DEFAULT_SCENE)
        parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
        parser.add_argument("--device", help="where its network runs: cpu (default), cuda, cuda:1")
        parser.add_argument("--keep", type=Path, help="a file of what was played, with which a later run goes on")
        parser.add_argument(
            "--record",
            action="store_true",
            help="write the figures into the folder's policy.json, or of a benchmark into the table of /benchmarks",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        from policies.base import PolicyError
        from robots.policy_lookup import check_device, find_policy
        from robots.processes import Processes
        from simulation.contracts import SimulationError

        if options["workers"] < 1:
            raise CommandError(f"--workers: expected at least 1 process, got {options['workers']}")
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores between them
        try:
            row = find_policy(options["policy"])
            if options["device"]:
                check_device(options["device"])
            with Processes(options["workers"]) as processes:
                answer = self._measure(row, options, processes)
        except (PolicyError, SimulationError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(answer))
        else:
            self._print(answer)

    def _measure(self, row: Any, options: dict[str, Any], processes: Any) -> dict[str, Any]:
        from policies.registry import REMOTE
        from robots import evaluation, libero_suite
        from robots.benchmarks.published import BRIDGE
        from robots.players import PlayerSource
        from simulation import catalogue
        from simulation.contracts import Chunking

        changed = options["execute"] or options["ensemble"]
        run = evaluation.EvaluationRun(
            player=PlayerSource(row.adapter, row.model_path, row.statistics_key, row.card),
            robot_id=options["robot"],
            scene_id=options["scene"],
            chunking=Chunking(options["execute"] or 1, options["ensemble"]) if changed else None,
            device=options["device"],
        )
        if options["suite"] == BRIDGE:
            return self._measure_bridge(row, run, options, processes)
        if libero_suite.is_suite(options["suite"]):
            return self._measure_libero(row, run, options, processes)
        chosen = options["task"] or evaluation.default_tasks(row.card, options["robot"], options["scene"])
        here = catalogue.embodiment(options["robot"], options["scene"])
        if not chosen:
            raise CommandError(f"{here.robot_id}/{here.scene_id} has no tasks of its own to measure; pass --task")
        tasks = [catalogue.task(name) for name in chosen]
        for task in tasks:
            if (task.robot_id, task.scene_id) != (run.robot_id, run.scene_id):
                where = f"--robot {task.robot_id} --scene {task.scene_id}"
                raise CommandError(f"{task.id} is a task of another scene than {run.scene_id}; pass {where}")
        if options["record"] and row.adapter == REMOTE:
            raise CommandError("--record writes into a policy's folder, which a remote policy does not have")
        todo = evaluation.cases(
            options["suite"], [task.id for task in tasks], options["episodes"], options["seed"], options["shift"]
        )
        kept = _kept(row, options) if options["keep"] else None
        with ProgressBar(len(todo)) as progress:
            scores = evaluation.measure(run, todo, processes, progress, kept)
        answer = evaluation.report(row.id, scores)
        if options["record"]:
            evaluation.record(run, options["suite"], options["seed"], answer)
        return answer

    def _measure_bridge(self, row: Any, run: Any, options: dict[str, Any], processes: Any) -> dict[str, Any]:
        from robots import bridge_suite

        _refuse_keeping(options)
        todo = bridge_suite.cases(options["task"] or bridge_suite.TASKS, options["episodes"])
        with ProgressBar(len(todo)) as progress:
            played = bridge_suite.measure(run, todo, processes, progress)
        return _recorded(row, options, bridge_suite.report(row.id, played))

    def _measure_libero(self, row: Any, run: Any, options: dict[str, Any], processes: Any) -> dict[str, Any]:
        from robots import libero_suite

        _refuse_keeping(options)
        todo = libero_suite.cases(options["suite"], options["task"], options["episodes"])
        with ProgressBar(len(todo)) as progress:
            played = libero_suite.measure(run, todo, processes, progress)
        return _recorded(row, options, libero_suite.report(row.id, options["suite"], played))

    def _print(self, answer: dict[str, Any]) -> None:
        if "published" in answer:
            from robots import bridge_suite, libero_suite
            from robots.benchmarks.published import BRIDGE

            table = bridge_suite.table if answer["suite"] == BRIDGE else libero_suite.table
            self.stdout.write("\n".join(table(answer)))
            return
        for name, row in [*answer["tasks"].items(), ("overall", answer["overall"])]:
            count = f"{row['successes']:4}/{row['episodes']:<4}"
            self.stdout.write(f"{name:26}{count} {row['rate']:7.1%} [{row['low']:.1%}, {row['high']:.1%}]")


def _refuse_keeping(options: dict[str, Any]) -> None:
    """A benchmark's row is that of a whole suite, played in one go."""
    if options["keep"]:
        raise CommandError("--keep keeps the figures of the suites table and shifts only")
    if options["record"] and options["task"]:
        raise CommandError(f"--record keeps rows of the whole suite {options['suite']}; leave out --task")


def _recorded(row: Any, options: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, which --record adds to the table of the benchmark."""
    from robots.benchmarks import measured
    from simulation.worlds import engine_version

    if not options["record"]:
        return answer
    fresh = measured.Measured(
        suite=options["suite"],
        policy=row.id,
        name=row.name,
        revision=row.revision,
        note=_note(row, options["suite"], answer["tasks"]),
        engine=engine_version(),
        day=measured.today(),
        tasks=measured.counts_of(answer["tasks"]),
    )
    try:
        measured.record(fresh)
    except measured.CannotRecord as error:
        raise CommandError(str(error)) from error
    return answer


def _note(row: Any, suite: str, tasks: Any) -> str:
    """What readers of the row have to know: whether it reads the simulator's state, or was trained on these starts, or
    near them, as in LIBERO (simulation.worlds.libero).
    """
    from robots.benchmarks import measured
    from robots.libero_suite import is_suite
    from robots.players import EXPERT, STILL
    from simulation import catalogue

    trained_in = {*row.card.get("training", {}).get("scenes", ())}
    if trained_in & {catalogue.task(task).scene_id for task in tasks}:
        return measured.NEAR_STARTS if is_suite(suite) else measured.SAW_STARTS
    return {EXPERT: measured.READS_STATE, STILL: measured.STILL}.get(row.adapter, "")


def _kept(row: Any, options: dict[str, Any]) -> Any:
    """The file of --keep, which names whatever decides how an episode goes."""
    from robots.kept import Kept
    from simulation.worlds import engine_version

    chosen = ("robot", "scene", "suite", "execute", "ensemble")
    plan = {"policy": row.id, "revision": row.revision, **{name: options[name] for name in chosen}}
    return Kept.at(options["keep"], {**plan, "engine": engine_version()})


class ProgressBar:
    """A bar on stderr where that is a terminal, and else a line for every fifty episodes; called with those so far."""

    def __init__(self, total: int) -> None:
        from tqdm import tqdm

        self._total, self._said = total, 0
        self._bar = tqdm(total=total, unit=" episodes", disable=None)

    def __enter__(self) -> Callable[[int], None]:
        return self._lines if self._bar.disable else self._show

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def _show(self, done: int) -> None:
        self._bar.update(done - self._bar.n)

    def _lines(self, done: int) -> None:
        if done // 50 > self._said // 50 or done == self._total:
            sys.stderr.write(f"{done}/{self._total} episodes\n")
        self._said = done
