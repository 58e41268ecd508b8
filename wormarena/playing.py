"""One game from its players to its file."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from wormarena import players
from wormarena.engine.game import Board, Played, play
from wormarena.engine.players import REFERENCE_PLAYERS
from wormarena.engine.writing import document_of, write

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


def play_game(plan: Plan) -> tuple[Played, Path]:
    """Play it, and write its file. Raises UnknownName for a player that there is none."""
    seats, game_id = players.seated(plan.names, plan.board, plan.seed), str(uuid.uuid4())
    played = play(seats, plan.board, plan.seed, time.time, lambda game: time.sleep(plan.pace_s))
    game_type = plan.game_type or (REFERENCE if set(plan.names) <= set(REFERENCE_PLAYERS) else OURS)
    return played, write(document_of(played, seats, game_id, game_type), plan.folder)


def told(plan: Plan, played: Played, path: Path) -> str:
    """A line about a game."""
    (a, b), scores = plan.names, played.position.scores
    return f"{a} {scores['0']} : {scores['1']} {b}, {len(played.rounds)} rounds, {path}"
