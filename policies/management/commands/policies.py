"""`manage.py policies`: list the registry."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from policies.models import Policy

FIELDS = ("name", "family", "status", "reference", "provenance")


class Command(BaseCommand):
    help = "List the registered policies."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = Policy.objects.values("id", "status_reason", *FIELDS)
        if options["json"]:
            listed = [{"model_id": row["id"], **{field: row[field] for field in FIELDS}} for row in rows]
            self.stdout.write(json.dumps({"policies": listed}))
            return
        for row in rows:
            kind = "reference" if row["reference"] else row["status"]
            self.stdout.write(f"{row['id']:<28} {kind:<12} {row['family']:<12} {row['name']}")
            if row["status_reason"]:
                self.stdout.write(f"{'':<28} {row['status_reason']}")
