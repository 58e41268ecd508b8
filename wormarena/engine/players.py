"""Who can play: the interface of a player, and the two reference players, which no model stands behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Protocol

from wormarena.engine.rules import STEPS, Cell, Position, stepped

NONE = ""
"""In place of a move: the answer has no direction in it. The game draws one and keeps reasons and costs."""


class ProviderFailed(Exception):
    """The provider of a model gave no move. The game draws one instead and says why."""


@dataclass(frozen=True)
class Choice:
    """A move, with the reasons that the model gave and what they cost [US dollars]."""

    move: str
    rationale: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


class Player(Protocol):
    """`name` is what statistics know it by; `model_id` names the model to its provider."""

    name: str
    model_id: str

    def choose(self, position: Position, slot: str, number: int) -> Choice:
        """The move of a slot in round `number` (from 0). ProviderFailed where there is none. It may take its time: the
        game asks both players at once, and waits for neither beyond its limit."""
        ...


class RandomPlayer:
    """Draws among the moves that do not die at once."""

    name = "random (reference player)"
    model_id = "reference/random"

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def choose(self, position: Position, slot: str, number: int) -> Choice:
        moves = _safe_moves(position, slot)
        move = self._random.choice(moves or list(STEPS))
        return Choice(move, f"Drawn from {', '.join(moves)}." if moves else "Every move ends here.")


class GreedyPlayer:
    """Takes the shortest way to the nearest apple that it can reach, and does not look further."""

    name = "greedy (reference player)"
    model_id = "reference/greedy"

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def choose(self, position: Position, slot: str, number: int) -> Choice:
        moves = _safe_moves(position, slot)
        if not moves:
            return Choice(self._random.choice(list(STEPS)), "Every move ends here.")
        ways = {move: _way_to_apple(position, stepped(position.snakes[slot][0], move)) for move in moves}
        shortest = min(ways.values())
        move = self._random.choice([move for move in moves if ways[move] == shortest])
        if shortest > position.width * position.height:
            return Choice(move, "I can reach no apple: I stay alive.")
        away = "one move" if shortest == 0 else f"{shortest + 1} moves"
        return Choice(move, f"The nearest apple is {away} away; {move} is the shortest way.")


REFERENCE_PLAYERS: Mapping[str, Callable[[int], Player]] = {"random": RandomPlayer, "greedy": GreedyPlayer}
"""What `manage.py play_snake` calls them -> how one is made from a seed."""


def _safe_moves(position: Position, slot: str) -> list[str]:
    """Those that lead neither off the board nor onto a body. A tail that moves away is no body."""
    bodies = {cell for body in position.snakes.values() for cell in body[:-1]}
    head = position.snakes[slot][0]
    cells = {move: stepped(head, move) for move in STEPS}
    return [move for move, cell in cells.items() if position.holds(cell) and cell not in bodies]


def _way_to_apple(position: Position, start: Cell) -> int:
    """Steps from a cell to the nearest apple around all bodies; beyond the number of cells where there is no way."""
    bodies = {cell for body in position.snakes.values() for cell in body}
    edge, seen, steps = [start], {start}, 0
    while edge:
        if any(cell in position.apples for cell in edge):
            return steps
        beside = {stepped(cell, move) for cell in edge for move in STEPS}
        edge = [cell for cell in sorted(beside - seen) if position.holds(cell) and cell not in bodies]
        seen |= beside
        steps += 1
    return position.width * position.height + 1
