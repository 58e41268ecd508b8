"""`manage.py ingest_games PATH...`: takes files of games in, as often as one likes."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from wormarena.game_file import GameRefused
from wormarena.ingestion.ledger import Report, files_under, ingest
from wormarena.ingestion.watching import Watch

LOOK_EVERY_S = 1.0


class Command(BaseCommand):
    help = "Take files of games in. What is refused is listed with its file and field, and makes the exit non-zero."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files, or folders of them")
        parser.add_argument("--watch", action="store_true", help="go on, and take in what appears, until Ctrl-C")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["watch"]:
            self._watch(options["paths"])
            return
        try:
            report = ingest(files_under(options["paths"]))
        except GameRefused as error:
            raise CommandError(str(error)) from None
        self._tell(report, options["json"])
        if report.refused:
            raise CommandError(f"{len(report.refused)} of {report.seen} files were refused")

    def _watch(self, paths: list[Path]) -> None:
        watches = [Watch(path) for path in paths]
        try:
            while True:
                for watch in watches:
                    report = watch.look()
                    if report.seen:
                        self._tell(report, False)
                time.sleep(LOOK_EVERY_S)
        except KeyboardInterrupt:
            return

    def _tell(self, report: Report, as_json: bool) -> None:
        if as_json:
            refused = [{"file": path, "why": why} for path, why in report.refused.items()]
            self.stdout.write(json.dumps({"new": report.new, "known": report.known, "refused": refused}))
            return
        for path, why in report.refused.items():
            self.stderr.write(f"refused: {path}: {why}")
        self.stdout.write(f"{report.new} new games, {report.known} known, {len(report.refused)} refused")
