"""`manage.py check_scenarios FILE...`: whether files of scenarios can be used."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from voice.scenarios.checking import check_file
from voice.scenarios.reading import FOLDER


class Command(BaseCommand):
    help = (
        "Check files of scenarios: their fields, tools, slots and criteria, and that the scripted caller can succeed."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: the shipped files")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        checked = [check_file(path) for path in options["files"] or sorted(FOLDER.glob("*.yaml"))]
        if options["json"]:
            self.stdout.write(json.dumps({"files": [asdict(each) for each in checked]}))
        for each in checked if not options["json"] else ():
            for fault in each.faults:
                self.stderr.write(fault)
            verdict = f"{len(each.faults)} faults" if each.faults else "all is well"
            self.stdout.write(f"{each.name}: {each.scenarios} scenarios: {verdict}")
        if any(each.faults for each in checked):
            raise SystemExit(1)
