"""What browsers learn of a game that is being played."""

from __future__ import annotations

from typing_extensions import TypedDict

from wormarena.api.shapes import GameResult


class LiveSide(TypedDict):
    """`move` and `rationale` are those of the last round; `death` is its cause, null for a snake that lives."""

    name: str
    score: int
    move: str | None
    rationale: str
    death: str | None
    result: GameResult | None


class LiveGame(TypedDict):
    """A game after its last round, `round`, which counts from 0 (null before the first). Cells are [x, y], (0, 0) is at
    the bottom left; snakes are head first. In a round with a death nobody moves. `ended`: nothing follows, and `replay`
    is the address of the replay where this arena has it."""

    gameId: str
    width: int
    height: int
    maxRounds: int
    round: int | None
    snakes: dict[str, list[list[int]]]
    apples: list[list[int]]
    sides: dict[str, LiveSide]
    ended: bool
    replay: str | None
