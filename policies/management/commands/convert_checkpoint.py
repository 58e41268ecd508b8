"""From a published checkpoint to safetensors and JSON: `manage.py convert_checkpoint octo SOURCE TARGET`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from policies.base import PolicyError


class Command(BaseCommand):
    help = "Rewrite a published checkpoint as safetensors and JSON. The source stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("family", choices=["octo"])
        parser.add_argument("source", type=Path, help="folder with config.json and <step>/default/checkpoint")
        parser.add_argument("target", type=Path, help="new or empty folder")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, family: str, source: Path, target: Path, **options: Any) -> None:
        from policies.octo.convert import convert  # loads torch, which other commands must not

        try:
            report = convert(source, target)
        except PolicyError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(report))
        else:
            self.stdout.write(f"{report['tensors']} tensors, {report['parameters']:,} numbers: {target}")
