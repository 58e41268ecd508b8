"""`manage.py signing_key`: the public key with which this arena signs bundles and dumps."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from exports import signing


class Command(BaseCommand):
    help = "Print the public key with which this arena signs bundles and dumps."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            key = signing.public_key()
        except (signing.NoSigningKey, signing.BadKey) as error:
            raise CommandError(str(error)) from None
        told = {"algorithm": signing.ALGORITHM, "key": key, "fingerprint": signing.fingerprint(key)}
        self.stdout.write(json.dumps(told) if options["json"] else key)
