"""`manage.py snake_ladder`: games one after another, between the players that have met least."""

from __future__ import annotations

import secrets
import time
from argparse import ArgumentParser
from itertools import count
from random import Random
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.errors import UnknownName
from wormarena import players
from wormarena.ingestion.ledger import ingest
from wormarena.ladder import next_pair
from wormarena.management.boards import add_options, board_of
from wormarena.playing import Plan, play_game, told

TYPE = "ladder"


class Command(BaseCommand):
    help = "Play games of Snake between random, greedy and the arena's language models, until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--players", nargs="+", metavar="PLAYER", help="default: all that can play")
        parser.add_argument("--games", type=int, help="end after so many; default: never")
        parser.add_argument("--seed", type=int, help="of the first game; the next ones count up")
        parser.add_argument("--pause-s", type=float, default=0.0, help="seconds between two games")
        add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        board = board_of(options)
        first = secrets.randbelow(2**32) if options["seed"] is None else options["seed"]
        games = count() if options["games"] is None else range(options["games"])
        try:
            for number in games:
                if number:
                    time.sleep(options["pause_s"])
                self._play(Plan(self._pair(options["players"], first + number), board, first + number,
                                options["folder"], TYPE, options["pace_s"]))  # fmt: skip
        except KeyboardInterrupt:
            return

    def _pair(self, wanted: list[str] | None, seed: int) -> tuple[str, str]:
        known = players.known()
        if unknown := sorted(set(wanted or ()) - set(known)):
            raise CommandError(f"{', '.join(unknown)}: no such player; known are {', '.join(sorted(known))}")
        try:
            return next_pair({name: known[name] for name in wanted or known}, Random(seed))
        except ValueError as error:
            raise CommandError(str(error)) from None

    def _play(self, plan: Plan) -> None:
        try:
            played, path = play_game(plan)
        except UnknownName as error:  # its server has stopped answering since it was drawn
            self.stderr.write(str(error))
            return
        ingest([path])  # counts for the next pair, wherever it lies
        self.stdout.write(told(plan, played, path))
        self.stdout.flush()
