"""`manage.py rebuild_rankings [--check]`: boards and counts from raw votes alone."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from rankings.publication import aggregation, checking


class Command(BaseCommand):
    help = "Count every vote and write the boards again; with --check compare only, and fail on a difference."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="compare counts and boards with the votes; change nothing"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"]:
            self._check(as_json=options["json"])
        else:
            self._rebuild(as_json=options["json"])

    def _rebuild(self, *, as_json: bool) -> None:
        report = aggregation.rebuild()
        self.stdout.write(
            json.dumps(asdict(report))
            if as_json
            else f"{report.votes_processed} votes counted, {report.votes_failed} failed, "
            f"{report.rows_changed} rows changed"
        )

    def _check(self, *, as_json: bool) -> None:
        found = checking.differences()
        if as_json:
            different = [asdict(difference) for difference in found]
            self.stdout.write(json.dumps({"identical": not found, "differences": different}))
        else:
            for each in found:
                self.stdout.write(
                    f"{each.board} {each.model_id} {each.field}: stored {each.stored}, votes give {each.rebuilt}"
                )
            self.stdout.write(f"{len(found)} differences")
        if found:
            raise CommandError("the counts or boards are not what the votes give; run `manage.py rebuild_rankings`")
