"""`manage.py seed_load --votes 1000000 --episodes 100000`: a synthetic arena for load measurements."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction

from arena.models import Session
from arena.store import StoreUnavailable, get_store
from rankings.publication import aggregation


class Command(BaseCommand):
    help = (
        "Fill an empty arena with synthetic policies, votes and episodes, and publish its boards. Refused if the arena "
        "has sessions, since synthetic data must never mix with real votes. If interrupted, it leaves no rows behind."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--votes", type=int, default=1_000_000)
        parser.add_argument("--episodes", type=int, default=100_000, help="two for each of the newest battles")
        parser.add_argument("--without-recordings", action="store_true", help="rows only, nothing in the episode store")
        parser.add_argument("--seed", type=int, default=1)

    def handle(self, *args: Any, **options: Any) -> None:
        votes, episodes = options["votes"], options["episodes"]
        if votes < 1 or not 0 <= episodes <= 2 * votes:
            raise CommandError("expected at least one vote, and from 0 to two episodes for each vote")
        if Session.objects.exists():
            raise CommandError("this arena has sessions: name an empty one (ARENA_DATA or DATABASE_URL)")
        self._fill(votes, episodes // 2, options["seed"], recordings=not options["without_recordings"])

    def _fill(self, votes: int, played: int, seed: int, *, recordings: bool) -> None:
        # Imported here, since these need physics, which the web process must not load.
        from vlaarena.synthetic import episodes
        from vlaarena.synthetic.rows import Load, write

        self._began = time.monotonic()
        try:
            if recordings and get_store().count():
                raise CommandError("the episode store is not empty (MONGO_URL, MONGO_DATABASE)")
            documents = episodes.play()
            load = Load(votes, played, documents, seed)
            with transaction.atomic():
                for policy in load.registry():
                    policy.save(force_insert=True)
                for model, columns, rows in load.tables():
                    write(model, columns, rows)
                    self._say(f"{model._meta.db_table} written")
            if recordings:
                self._say(f"{episodes.save(documents, load.documents())} episodes saved")
        except StoreUnavailable as error:
            raise CommandError(str(error)) from error
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        self._say("tables analysed")
        aggregation.aggregate()
        self._say("boards published")

    def _say(self, progress: str) -> None:
        self.stdout.write(f"{time.monotonic() - self._began:6.1f} s  {progress}")
