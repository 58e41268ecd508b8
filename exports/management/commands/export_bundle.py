"""`manage.py export_bundle FILE`: the published ranking and its battles as one signed file."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena import kinds
from arena.store import StoreUnavailable
from exports import signing
from exports.bundle import writing
from policies.models import ROBOTS


class Command(BaseCommand):
    help = (
        "Write the current publication of the robots' boards, its counted votes, and the battles that everybody may "
        "see, with their recordings, to one signed file that `manage.py verify_bundle` checks without this arena."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a zip archive; by custom it ends in .zip")
        parser.add_argument(
            "--battles", nargs="+", default=[], metavar="BATTLE_ID", help="only the recordings of these"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            written = writing.write_bundle(path, kinds.get(ROBOTS), options["battles"], self._tell)
            key = signing.public_key()
        except (writing.NotPublished, writing.NotForExport, signing.NoSigningKey, signing.BadKey) as error:
            raise CommandError(str(error)) from None
        except StoreUnavailable as error:
            raise CommandError(f"the episode store does not answer: {error}") from None
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        if options["json"]:
            found = {name: asdict(written)[name] for name in ("battles", "episodes", "without_recordings")}
            self.stdout.write(json.dumps({"file": str(path), **found, "key": key}))
            return
        missing = (
            f", {written.without_recordings} left out for want of recordings" if written.without_recordings else ""
        )
        self.stdout.write(f"{written.battles} battles with {written.episodes} recordings{missing}, signed by {key}")

    def _tell(self, done: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"{done} battles", ending="\r")
