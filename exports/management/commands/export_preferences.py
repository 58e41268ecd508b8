"""`manage.py export_preferences FILE`: preference pairs as JSON lines or Parquet."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena import kinds
from arena.store import StoreUnavailable
from exports.preferences import FORMATS, pairs, write_pairs
from policies.models import ROBOTS


class Command(BaseCommand):
    help = (
        "Write a row for each pair of robot episodes of which a counted vote preferred one: chosen, rejected, "
        "instruction and start state. Hidden, reported and removed content is left out."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help=f"ends in {' or '.join(FORMATS)}")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if path.suffix not in FORMATS:
            raise CommandError(f"{path} ends in {path.suffix or 'nothing'}; expected {' or '.join(FORMATS)}")
        try:
            rows = write_pairs(path, pairs(kinds.get(ROBOTS)))
        except StoreUnavailable as error:
            raise CommandError(f"the episode store does not answer: {error}") from None
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        self.stdout.write(json.dumps({"file": str(path), "pairs": rows}) if options["json"] else f"{rows} pairs")
