"""`manage.py write_dump`: by hand what beat requests every hour."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena import kinds
from arena.store import StoreUnavailable
from exports import dumps, signing
from exports.bundle.writing import NotPublished
from policies.models import ROBOTS


class Command(BaseCommand):
    help = (
        "Write this hour's dump of counts and preference pairs, unless it is there, and delete dumps that are too old "
        "or that have rows which may no longer be public."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            written = dumps.write_dump(kinds.get(ROBOTS))
        except (NotPublished, signing.NoSigningKey, signing.BadKey) as error:
            raise CommandError(str(error)) from None
        except StoreUnavailable as error:
            raise CommandError(f"the episode store does not answer: {error}") from None
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from None
        if options["json"]:
            self.stdout.write(json.dumps({"dump": str(written) if written else None, "dumps": dumps.names()}))
            return
        self.stdout.write(f"written: {written}" if written else "this hour's dump is there already")
