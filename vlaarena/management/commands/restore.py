"""`manage.py restore FILE`: fill a new arena from a backup."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.store import StoreUnavailable
from vlaarena import backup


class Command(BaseCommand):
    help = "Fill a new, migrated arena from a file of `manage.py backup`. Refused if the arena has sessions or votes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backup.restore(options["file"])
        except (backup.BackupError, StoreUnavailable) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(manifest.to_json()))
        else:
            self.stdout.write(f"restored {options['file']}, made {manifest.made_at}")
