"""`manage.py sweep`: by hand what beat requests every few seconds."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from arena.queue import sweeps


class Command(BaseCommand):
    help = "Retry the attempts of lost workers, fail those that were retried too often, and resend lost messages."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        found = sweeps.sweep()
        self.stdout.write(json.dumps({"lost": found}) if options["json"] else f"{found} lost attempts taken care of")
