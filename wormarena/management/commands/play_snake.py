"""`manage.py play_snake A B`: games between two players, each written as a file of SnakeBench."""

from __future__ import annotations

import json
import secrets
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.errors import UnknownName
from wormarena.management.boards import add_options, board_of
from wormarena.playing import Plan, play_game, told


class Command(BaseCommand):
    help = "Play games of Snake, and write a file of each. Players take turns in the slots."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        for name in ("a", "b"):
            parser.add_argument(name, help="random, greedy, or the id of a language model of the text arena")
        parser.add_argument("--games", type=int, default=1)
        parser.add_argument("--seed", type=int, help="of the first game; the next ones count up")
        parser.add_argument("--game-type", default="", help="default: reference, or arena with a language model")
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        board, files = board_of(options), []
        first = secrets.randbelow(2**32) if options["seed"] is None else options["seed"]
        for number in range(options["games"]):
            names = (options["a"], options["b"])[:: -1 if number % 2 else 1]
            plan = Plan(names, board, first + number, options["folder"], options["game_type"], options["pace_s"])
            try:
                played, path = play_game(plan)
            except UnknownName as error:
                raise CommandError(str(error)) from None
            files.append(str(path))
            if not options["json"]:
                self.stdout.write(told(plan, played, path))
        if options["json"]:
            self.stdout.write(json.dumps({"files": files}))
