"""`manage.py export_texts FILE`: prompts, answers and votes of text battles, anonymised."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.store import StoreUnavailable
from texts.export import FORMATS, write_battles
from texts.moderation import ModerationFailed


class Command(BaseCommand):
    help = (
        "Write every voted battle of language models to a JSONL or Parquet file: prompts, answers, vote and whether it "
        "counts. Voters and battles are renumbered, and of times only the day is kept. Flagged battles are left out. "
        "Prompts are visitors' own words: look at the file before it is published."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help=f"ends in {' or '.join(FORMATS)}")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if path.suffix not in FORMATS:
            raise CommandError(f"{path} ends in {path.suffix or 'nothing'}; expected {' or '.join(FORMATS)}")
        try:
            written, left_out = write_battles(path)
        except (StoreUnavailable, ModerationFailed) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        self.stdout.write(f"{written} battles, {left_out} left out")
