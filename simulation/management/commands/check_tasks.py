"""`manage.py check_tasks FILE...`: whether files of tasks can be used."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from simulation import catalogue


class Command(BaseCommand):
    help = "Check files of tasks: their fields, words and goals, and that no goal is reached at the start of a seed."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: the files of the catalogue")
        parser.add_argument("--seeds", type=int, default=20, help="how many first states to try every goal in")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        from simulation.task_check import check_file

        if options["seeds"] < 1:
            raise CommandError("--seeds must be at least 1")
        files = options["files"] or sorted((catalogue.FOLDER / "tasks").glob("*.yaml"))
        checked = [check_file(path, options["seeds"]) for path in files]
        if options["json"]:
            self.stdout.write(json.dumps({"files": [asdict(each) for each in checked]}))
        for each in checked if not options["json"] else ():
            for fault in each.faults:
                self.stderr.write(fault)
            verdict = f"{len(each.faults)} faults" if each.faults else "all is well"
            self.stdout.write(f"{each.name}: {each.tasks} tasks, {each.goals} goals: {verdict}")
        if any(each.faults for each in checked):
            raise SystemExit(1)
