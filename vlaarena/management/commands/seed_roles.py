"""`manage.py seed_roles`: create the groups moderator and operator with the permissions of vlaarena/roles.py."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from vlaarena.roles import enter_roles


class Command(BaseCommand):
    help = "Create the groups moderator and operator, or reset their permissions. Their members are kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        new = enter_roles()
        self.stdout.write(json.dumps({"added": new}) if options["json"] else f"{len(new)} roles added")
