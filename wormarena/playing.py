"""One game from its players to its file, told to open pages meanwhile."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError
from django.urls import reverse

from wormarena import players
from wormarena.engine.game import Board, Played, play
from wormarena.engine.players import REFERENCE_PLAYERS
from wormarena.engine.writing import document_of, write
from wormarena.ingestion.ledger import ingest
from wormarena.live.telling import Teller

REFERENCE, OURS = "reference", "arena"
"""Types of games: of reference players alone, and with language models of this arena."""


@dataclass(frozen=True)
class Plan:
    """`names`: of the players in slots 0 and 1, as commands call them. `game_type` "": by the players. A round takes
    `pace_s` seconds at least, so that people can watch it."""

    names: tuple[str, str]
    board: Board
    seed: int
    folder: Path
    game_type: str = ""
    pace_s: float = 0.0

    @property
    def is_counted(self) -> bool:
        """Whether the arena takes in what the folder has."""
        return self.folder.resolve() == Path(settings.WORMARENA_FOLDER).resolve()


def play_game(plan: Plan) -> tuple[Played, Path]:
    """Play it, write its file, and take it in if it lies in the watched folder. Raises UnknownName for a player that
    there is none."""
    seats, game_id = players.seated(plan.names, plan.board, plan.seed), str(uuid.uuid4())
    teller = Teller(game_id, seats)

    def watch(game: Played) -> None:
        teller.tell(game)
        time.sleep(plan.pace_s)

    played = play(seats, plan.board, plan.seed, time.time, watch)
    game_type = plan.game_type or (REFERENCE if set(plan.names) <= set(REFERENCE_PLAYERS) else OURS)
    path = write(document_of(played, seats, game_id, game_type), plan.folder)
    counted = plan.is_counted and _taken_in(path)
    teller.end(played, reverse("worm-game", args=[game_id]) if counted else None)
    return played, path


def told(plan: Plan, played: Played, path: Path) -> str:
    """A line about a game."""
    (a, b), scores = plan.names, played.position.scores
    return f"{a} {scores['0']} : {scores['1']} {b}, {len(played.rounds)} rounds, {path}"


def _taken_in(path: Path) -> bool:
    """A game needs no database: where there is none, its file waits."""
    try:
        return not ingest([path]).refused
    except DatabaseError:
        return False
