"""`manage.py verify_bundle FILE --key KEY`: replay and rank a bundle again, without a database."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = (
        "Check a battle bundle: its signature, every part, every recording by replaying its actions bit for bit, and "
        "every published figure by fitting the boards to the votes again. Needs no database."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        key = parser.add_mutually_exclusive_group(required=True)
        key.add_argument("--key", help="the arena's public key, ed25519:..., as its /data/key shows it")
        key.add_argument("--any-key", action="store_true", help="trust the key that the bundle names")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        from exports.bundle.parts import Refused
        from exports.bundle.verification import verify_bundle
        from exports.signing import BadKey

        try:
            found = verify_bundle(options["file"], options["key"], self._tell)
        except Refused as error:
            if options["json"]:
                refusal = {"code": error.code, "part": error.part, "detail": error.detail}
                self.stdout.write(json.dumps({"verified": False, "refused": refusal}))
                raise SystemExit(1) from None
            raise CommandError(str(error)) from None
        except BadKey as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from None
        if options["json"]:
            self.stdout.write(json.dumps({"verified": True, **asdict(found)}))
            return
        self.stdout.write(
            f"verified: {found.battles} battles, {found.episodes} recordings identical bit for bit, {found.votes} "
            f"votes on {found.models} models give the published figures of {found.boards} boards (largest difference "
            f"{found.largest_difference:.2f} points); signed by {found.key}"
        )

    def _tell(self, done: int, of: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"{done} of {of} recordings", ending="\r")
