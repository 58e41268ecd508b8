"""`manage.py add_policy ID --weights PATH`: register a folder of weights, or change its row."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug

from policies.base import PolicyError
from policies.registry import families
from simulation import catalogue

COLUMNS = {
    "name": "name for people",
    "description": "what it is, in a sentence",
    "organization": "who made it",
    "license": "licence of the weights",
    "provenance": "who trained it, on what",
    "training_data": "what it learned from",
    "source": "where to find the weights and the paper",
}


class Command(BaseCommand):
    help = (
        "Open a policy folder whole (a published checkpoint or one of our own), let it infer once, and enter it into "
        "the registry. Workers that host it can play it within seconds."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("policy", help="a new id, or that of a registered policy, such as openvla-7b")
        parser.add_argument("--weights", type=Path, required=True, help="the folder")
        parser.add_argument("--family", choices=sorted(families), help="refuse a folder of another family")
        parser.add_argument("--statistics-key", default="", help="the data set in whose units it acts")
        parser.add_argument("--device", help="where to open it for the check: cpu (default), cuda, ...")
        for name, meaning in COLUMNS.items():
            parser.add_argument(
                f"--{name.replace('_', '-')}", default="", help=f"{meaning} (default: as in the folder)"
            )
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        from policies.adding import Registration, add_policy  # loads torch, which other commands must not

        try:
            validate_slug(options["policy"])
        except ValidationError:
            raise CommandError(f"{options['policy']!r}: an id is letters, digits, hyphens and underscores") from None
        asked = Registration(
            model_id=options["policy"],
            folder=options["weights"],
            family=options["family"] or "",
            statistics_key=options["statistics_key"],
            device=options["device"],
            columns={name: options[name] for name in COLUMNS},
        )
        try:
            added = add_policy(asked, catalogue.embodiments())
        except PolicyError as error:
            raise CommandError(str(error)) from error
        row = added.policy
        if options["json"]:
            told = {name: getattr(row, name) for name in ("status", "family", "parameters", "statistics_key")}
            answer = {"model_id": row.id, "created": added.created, **told, "warnings": added.warnings}
            self.stdout.write(json.dumps(answer))
            return
        for warning in added.warnings:
            self.stderr.write(warning)
        size = f"{row.parameters:,} parameters"
        self.stdout.write(f"{row.id}: {'entered' if added.created else 'updated'}, {row.family}, {size}, {row.status}")
