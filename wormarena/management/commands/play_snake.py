"""`manage.py play_snake A B`: games between two players, each written as a file of SnakeBench."""

from __future__ import annotations

import json
import secrets
import time
import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from wormarena.engine.game import Board, play
from wormarena.engine.players import REFERENCE_PLAYERS
from wormarena.engine.writing import document_of, write


class Command(BaseCommand):
    help = "Play games of Snake, and write a file of each. Players take turns in the slots."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        for name in ("a", "b"):
            parser.add_argument(name, choices=sorted(REFERENCE_PLAYERS))
        parser.add_argument("--games", type=int, default=1)
        parser.add_argument("--folder", type=Path, default=settings.WORMARENA_FOLDER, help="default: the watched one")
        parser.add_argument("--seed", type=int, help="of the first game; the next ones count up")
        parser.add_argument("--width", type=int, default=Board.width)
        parser.add_argument("--height", type=int, default=Board.height)
        parser.add_argument("--apples", type=int, default=Board.num_apples)
        parser.add_argument("--rounds", type=int, default=Board.max_rounds)
        parser.add_argument("--game-type", default="reference")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            board = Board(options["width"], options["height"], options["apples"], options["rounds"])
        except ValueError as error:
            raise CommandError(str(error)) from None
        first = secrets.randbelow(2**32) if options["seed"] is None else options["seed"]
        files = [self._play(board, first + number, number, options) for number in range(options["games"])]
        if options["json"]:
            self.stdout.write(json.dumps({"files": [str(path) for path in files]}))

    def _play(self, board: Board, seed: int, number: int, options: dict[str, Any]) -> Path:
        names = [options["a"], options["b"]]
        if number % 2:
            names.reverse()
        players = {str(slot): REFERENCE_PLAYERS[name](seed + slot) for slot, name in enumerate(names)}
        played = play(players, board, seed, time.time)
        path = write(document_of(played, players, str(uuid.uuid4()), options["game_type"]), options["folder"])
        if not options["json"]:
            scores = played.position.scores
            self.stdout.write(
                f"{names[0]} {scores['0']} : {scores['1']} {names[1]}, {len(played.rounds)} rounds, {path}"
            )
        return path
