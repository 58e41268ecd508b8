"""`manage.py export_votes FILE`: the counted votes, anonymised, as a file that anybody can rate."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena import kinds
from arena.errors import UnknownName
from rankings.publication.export import FORMATS, write_votes


class Command(BaseCommand):
    help = (
        "Write every counted vote of a kind to a CSV or Parquet file; `manage.py rate FILE` gives the figures of the "
        "boards. The file is anonymised: voters and battles are renumbered, and of times only the day is kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help=f"ends in {' or '.join(FORMATS)}")
        parser.add_argument("--kind", help="of arena; default: settings.DEFAULT_KIND, else the first")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if path.suffix not in FORMATS:
            raise CommandError(f"{path} ends in {path.suffix or 'nothing'}; expected {' or '.join(FORMATS)}")
        try:
            votes = write_votes(path, kinds.named(options["kind"]))
        except UnknownName as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        self.stdout.write(json.dumps({"file": str(path), "votes": votes}) if options["json"] else f"{votes} votes")
