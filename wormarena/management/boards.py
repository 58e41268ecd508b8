"""The options of commands that play games."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from wormarena.engine.game import Board


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, default=settings.WORMARENA_FOLDER, help="default: the watched one")
    parser.add_argument("--width", type=int, default=Board.width)
    parser.add_argument("--height", type=int, default=Board.height)
    parser.add_argument("--apples", type=int, default=Board.num_apples)
    parser.add_argument("--rounds", type=int, default=Board.max_rounds)
    parser.add_argument("--move-s", type=float, default=Board.move_s, help="seconds that both have for a move")
    parser.add_argument("--pace-s", type=float, default=0.0, help="seconds that a round takes at least, to be watched")


def board_of(options: Mapping[str, Any]) -> Board:
    """Raises CommandError."""
    try:
        return Board(options["width"], options["height"], options["apples"], options["rounds"], options["move_s"])
    except ValueError as error:
        raise CommandError(str(error)) from None
