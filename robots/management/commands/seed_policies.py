"""`manage.py seed_policies`: register the shipped policies, or update their rows."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from policies.seeding import seed_policies
from robots import published_tasks
from simulation import catalogue


class Command(BaseCommand):
    help = "Register every policy folder that ships with the arena, and the references. Safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        published_tasks.refresh_if_possible()
        seeded = seed_policies(settings.POLICY_WEIGHTS, catalogue.embodiments())
        if options["json"]:
            self.stdout.write(json.dumps({"policies": [asdict(each) for each in seeded]}))
            return
        for each in seeded:
            self.stdout.write(f"{each.model_id}: {each.trouble or ('entered' if each.created else 'up to date')}")
