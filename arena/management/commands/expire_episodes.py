"""`manage.py expire_episodes`: by hand what beat requests every night."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena import retention
from arena.store import StoreUnavailable


class Command(BaseCommand):
    help = (
        "Expire recordings of battles without a vote after ARENA_UNVOTED_DAYS (0: never), and delete those that "
        "expired a day ago. Recordings of voted battles stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=float, help="in place of ARENA_UNVOTED_DAYS")
        parser.add_argument(
            "--at-once", action="store_true", help="delete without the day in between; not while a backup is made"
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--json", action="store_true", help="answer with one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["days"] is not None and options["days"] < 0:
            raise CommandError("--days: give a number of days, or 0 to let nothing expire")
        grace = timedelta(0) if options["at_once"] else retention.GRACE
        act = retention.forecast if options["dry_run"] else retention.expire
        try:
            found = act(options["days"], grace)
        except StoreUnavailable as error:
            raise CommandError(
                f"{error}; what had expired by then is marked, the rest is left to the next run"
            ) from None
        if options["json"]:
            self.stdout.write(json.dumps(asdict(found)))
            return
        would = "would be " if options["dry_run"] else ""
        self.stdout.write(
            f"{would}expired: {found.recordings} recordings of {found.battles} battles; {would}deleted: {found.deleted}"
        )
