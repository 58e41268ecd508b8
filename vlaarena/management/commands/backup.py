"""`manage.py backup FILE`: write rows and episodes to one file."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.store import StoreUnavailable
from vlaarena import backup


class Command(BaseCommand):
    help = "Write all data of the arena to one file; the arena may be running. `manage.py restore` reads the file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = backup.save(options["file"])
        except (backup.BackupError, StoreUnavailable) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(manifest.to_json()))
            return
        rows = sum(count for name, (count, _) in manifest.files.items() if name != backup.EPISODES)
        self.stdout.write(f"{options['file']}: {rows} rows and {manifest.files[backup.EPISODES][0]} episodes")
