"""The rules of a round, pure: positions and moves in, positions and deaths out. No Django, no chance.

(0, 0) is at the bottom left, and UP is y + 1. Snakes are lists of cells [x, y], head first. All snakes move at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Cell = tuple[int, int]
Body = tuple[Cell, ...]
STEPS: Mapping[str, Cell] = {"UP": (0, 1), "DOWN": (0, -1), "LEFT": (-1, 0), "RIGHT": (1, 0)}
MOST_APPLES = 30
"""Who has eaten so many ends the game."""
WALL, HEAD, BODY = "wall", "head_collision", "body_collision"


@dataclass(frozen=True)
class Position:
    """What the board looks like. Only the living are in `snakes` of a game that goes on; `dead` says who died."""

    width: int
    height: int
    snakes: Mapping[str, Body]
    apples: tuple[Cell, ...]
    scores: Mapping[str, int]
    dead: frozenset[str] = frozenset()

    @property
    def living(self) -> list[str]:
        return [slot for slot in self.snakes if slot not in self.dead]

    def is_free(self, cell: Cell) -> bool:
        """On the board, and on no snake and no apple."""
        return self.holds(cell) and cell not in self.apples and not any(cell in body for body in self.snakes.values())

    def holds(self, cell: Cell) -> bool:
        return 0 <= cell[0] < self.width and 0 <= cell[1] < self.height


@dataclass(frozen=True)
class Round:
    """After a round: `position`, who died of what, and which apples were eaten."""

    position: Position
    deaths: Mapping[str, str]
    eaten: tuple[Cell, ...] = ()


def stepped(cell: Cell, move: str) -> Cell:
    return cell[0] + STEPS[move][0], cell[1] + STEPS[move][1]


def play_round(before: Position, moves: Mapping[str, str]) -> Round:
    """One move of every living snake. If somebody dies, nobody moves, grows or scores."""
    heads = {slot: stepped(before.snakes[slot][0], moves[slot]) for slot in before.living}
    eats = {slot: head in before.apples for slot, head in heads.items()}
    rest = {slot: _body_behind(before.snakes[slot], eats[slot]) for slot in heads}
    if deaths := deaths_of(before, heads, rest):
        return Round(_with_dead(before, deaths), deaths)
    eaten = tuple(apple for apple in before.apples if apple in heads.values())
    return Round(_moved(before, heads, rest, eats), {}, eaten)


def deaths_of(before: Position, heads: Mapping[str, Cell], rest: Mapping[str, Body]) -> dict[str, str]:
    """Slot -> cause. First walls, then heads on one cell, then heads on bodies; each only among those still alive."""
    deaths = {slot: WALL for slot, head in heads.items() if not before.holds(head)}
    alive = [slot for slot in heads if slot not in deaths]
    met = [slot for slot in alive if any(heads[slot] == heads[other] for other in alive if other != slot)]
    deaths |= dict.fromkeys(met, HEAD)
    alive = [slot for slot in alive if slot not in met]
    return deaths | {slot: BODY for slot in alive if any(heads[slot] in rest[other] for other in alive)}


def result_of(position: Position) -> dict[str, str]:
    """Slot -> won, lost or tied, of a game that has ended. The only survivor has won; else the score decides."""
    living = position.living
    best = living if len(living) == 1 else _best(position)
    if len(best) > 1:
        return {slot: "tied" if slot in best else "lost" for slot in position.snakes}
    return {slot: "won" if slot in best else "lost" for slot in position.snakes}


def has_ended(position: Position, rounds: int, max_rounds: int) -> bool:
    return rounds >= max_rounds or bool(position.dead) or max(position.scores.values()) >= MOST_APPLES


def _best(position: Position) -> Sequence[str]:
    most = max(position.scores.values())
    return [slot for slot, score in position.scores.items() if score == most]


def _body_behind(body: Body, grows: bool) -> Body:
    """The cells behind the new head: the whole old body, without its tail unless the snake grows."""
    return body if grows else body[:-1]


def _with_dead(before: Position, deaths: Mapping[str, str]) -> Position:
    return Position(before.width, before.height, before.snakes, before.apples, before.scores, frozenset(deaths))


def _moved(before: Position, heads: Mapping[str, Cell], rest: Mapping[str, Body], eats: Mapping[str, bool]) -> Position:
    return Position(
        before.width,
        before.height,
        {slot: (heads[slot], *rest[slot]) for slot in before.snakes},
        tuple(apple for apple in before.apples if apple not in heads.values()),
        {slot: score + eats[slot] for slot, score in before.scores.items()},
    )
