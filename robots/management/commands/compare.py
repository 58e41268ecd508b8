"""`manage.py compare A B`: two policies on the same tasks and seeds, until it is settled which of them is better."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    requires_system_checks: tuple[str, ...] = ()  # they load the whole site, and this loads little of it
    help = (
        "Let two policies, of folders or behind servers, play the same tasks from the same first states, and tell "
        "which of them succeeds more often. It stops when that is settled. The same command goes on where it stopped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("a", help="policy id, or the path of a policy folder")
        parser.add_argument("b")
        parser.add_argument(
            "--task", action="append", help="only this task; may be given again (default: the suggested)"
        )
        parser.add_argument("--suite", default="table", help="table, or shifts: what differs from training")
        parser.add_argument("--shift", action="append", help="with --suite shifts: only this shift; may be given again")
        parser.add_argument("--episodes", type=int, default=100, help="pairs per task (and shift) at most")
        parser.add_argument("--seed", type=int, default=0, help="first seed; below 1000000, which training never uses")
        parser.add_argument("--margin", type=float, default=0.0, help="a difference that does not matter, such as 0.1")
        parser.add_argument("--all", action="store_true", help="play all pairs, also where it is settled before")
        parser.add_argument(
            "--retry-failed", action="store_true", help="play those pairs anew in which a policy failed"
        )
        parser.add_argument("--robot", default=settings.DEFAULT_ROBOT)
        parser.add_argument("--scene", default=settings.DEFAULT_SCENE)
        parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
        parser.add_argument("--device", help="where networks run: cpu (default), cuda, cuda:1")
        parser.add_argument("--folder", type=Path, help="where studies are kept (default: studies in ARENA_DATA)")
        parser.add_argument("--replays", type=int, default=8, help="pairs that the report shows in pictures")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        from policies.base import PolicyError
        from robots import published_tasks
        from robots.policy_lookup import check_device, find_policy
        from robots.processes import Processes
        from simulation.contracts import SimulationError

        if options["workers"] < 1:
            raise CommandError(f"--workers: expected at least 1 process, got {options['workers']}")
        if not 0 <= options["margin"] < 1:
            raise CommandError(f"--margin: expected 0 or more and less than 1, got {options['margin']:g}")
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores between them
        published_tasks.refresh_if_possible()
        try:
            rows = {side: find_policy(options[side]) for side in ("a", "b")}
            if options["device"]:
                check_device(options["device"])
            with Processes(options["workers"]) as processes:
                answer = self._compare(rows, options, processes)
        except (PolicyError, SimulationError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(answer))
        else:
            self._print(answer)

    def _compare(self, rows: dict[str, Any], options: dict[str, Any], processes: Any) -> dict[str, Any]:
        from robots.studies import comparing
        from robots.studies.folder import StudyFolder
        from robots.studies.report import report
        from robots.studies.study import Study, conduct

        cases = _cases(options)
        a, b = _runs(rows, options)
        study = Study(a, b, cases, options["margin"], until_settled=not options["all"])
        plan = _plan(rows, options)
        folder = StudyFolder.of(options["folder"] or settings.DATA_DIR / "studies", plan)
        if options["retry_failed"]:
            folder.keep([pair for pair in folder.pairs() if not pair.failed])
        with ProgressBar(len(cases)) as progress:
            pairs = conduct(study, folder, processes, progress)
        names = {side: rows[side].id for side in rows}
        answer = comparing.compared(pairs, names, options["margin"], len(cases), fixed=options["all"])
        folder.report.write_text(report(answer, plan, pairs, options["replays"]), "utf-8")
        return {**answer, "folder": str(folder.path), "report": str(folder.report)}

    def _print(self, answer: dict[str, Any]) -> None:
        for side in ("a", "b"):
            row = answer[side]
            count = f"{row['successes']:4}/{row['episodes']:<4}"
            self.stdout.write(f"{row['model_id']:26}{count} {row['rate']:7.1%} [{row['low']:.1%}, {row['high']:.1%}]")
        difference, sequential = answer["difference"], answer["sequential"]
        interval = f"[{difference['low']:+.1%}, {difference['high']:+.1%}]"
        self.stdout.write(f"{'difference':35} {difference['estimate']:+7.1%} {interval}")
        self.stdout.write(f"{'exact test of McNemar':35} p = {answer['mcnemar_p']:.3g}")
        self.stdout.write(f"{'evidence (20 settles it)':35} {sequential['e_value']:.3g}")
        self.stdout.write(_outlook(sequential))
        self.stdout.write(f"report: {answer['report']}")


def _outlook(sequential: dict[str, Any]) -> str:
    if sequential["verdict"] == "alike":
        return f"settled: they differ by no more than {sequential['margin']:g}"
    if sequential["verdict"]:
        return f"settled: {sequential['verdict']} succeeds more often"
    if sequential["more_pairs"]:
        return f"open: about {sequential['more_pairs']} more pairs settle it, if they are like those so far"
    return "open: these pairs do not tell how many more would settle it"


def _cases(options: dict[str, Any]) -> Sequence[Any]:
    from robots import evaluation
    from robots.studies.study import in_turn
    from simulation import catalogue

    chosen = options["task"] or evaluation.default_tasks({}, options["robot"], options["scene"])
    tasks = [catalogue.task(name).id for name in chosen]
    return in_turn(evaluation.cases(options["suite"], tasks, options["episodes"], options["seed"], options["shift"]))


def _runs(rows: dict[str, Any], options: dict[str, Any]) -> list[Any]:
    from robots.evaluation import EvaluationRun
    from robots.players import PlayerSource

    sources = [PlayerSource(row.adapter, row.model_path, row.statistics_key, row.card) for row in rows.values()]
    return [EvaluationRun(source, options["robot"], options["scene"], device=options["device"]) for source in sources]


def _plan(rows: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Whatever decides how an episode of the study goes."""
    from simulation.worlds import engine_version

    sides = {side: {"model_id": row.id, "revision": row.revision} for side, row in rows.items()}
    place = {"robot_id": options["robot"], "scene_id": options["scene"]}
    return {**sides, **place, "suite": options["suite"], "seed": options["seed"], "engine": engine_version()}


class ProgressBar:
    """A progress bar on stderr, where that is a terminal; called with the pairs so far."""

    def __init__(self, total: int) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=total, unit=" pairs", disable=None)

    def __enter__(self) -> Callable[[Sequence[Any]], None]:
        return self._show

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def _show(self, pairs: Sequence[Any]) -> None:
        from robots.studies.comparing import counts_of

        counts = counts_of(pairs)
        self._bar.set_postfix_str(f"only a {counts.first}, only b {counts.second}", refresh=False)
        self._bar.update(len(pairs) - self._bar.n)
