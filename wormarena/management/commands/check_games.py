"""`manage.py check_games PATH...`: plays the moves of files again, and says how many end as they say."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from wormarena.engine.resimulation import Check, check
from wormarena.game_file import GameRefused, read
from wormarena.ingestion.ledger import files_under


class Command(BaseCommand):
    help = "Simulate games again from their first states and moves; non-zero exit if one comes out differently."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files, or folders of them")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            files = files_under(options["paths"])
        except GameRefused as error:
            raise CommandError(str(error)) from None
        found = {str(path): _checked(path) for path in files}
        counts = Counter(each.verdict for each in found.values())
        others = [{"file": path, **each._asdict()} for path, each in found.items() if each.verdict != "same"]
        if options["json"]:
            self.stdout.write(json.dumps({"checked": len(found), **counts, "others": others}))
        else:
            for each in others:
                self.stdout.write(f"{each['verdict']}: {each['file']}: {each['why']}")
            self.stdout.write(f"{counts['same']} of {len(found)} games come out as their files say")
        if counts["differs"] or counts["refused"]:
            raise CommandError("some games come out differently")


def _checked(path: Path) -> Any:
    try:
        return check(read(path))
    except (GameRefused, OSError) as error:
        return Check("refused", str(error))
