"""`manage.py rebuild_wormarena`: all statistics again, from the files alone."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from wormarena.game_file import GameRefused
from wormarena.ingestion.ledger import files_under, rebuild
from wormarena.ingestion.watching import folders


class Command(BaseCommand):
    help = "Reset all sums and ratings, take in the files that are missing, and compute everything again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="default: the arena's own folders")
        parser.add_argument("--drop", action="store_true", help="forget the games too: what no file tells is gone")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = rebuild(files_under(options["paths"] or folders()), drop=options["drop"])
        except GameRefused as error:
            raise CommandError(str(error)) from None
        for path, why in report.refused.items():
            self.stderr.write(f"refused: {path}: {why}")
        self.stdout.write(f"{report.new} new games, {report.known} known, {len(report.refused)} refused")
        if report.refused:
            raise CommandError(f"{len(report.refused)} of {report.seen} files were refused")
