"""What a language model is told before a move, and how its answer is read. The parts and their order are those of
SnakeBench, in words of our own, so that its figures and ours are about the same task."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from wormarena.engine.game import Board
from wormarena.engine.rules import MOST_APPLES, STEPS, Cell, Position

REMEMBERED, OF_ITS_START = 4000, 3200
"""Characters of the last reasons that a model reads again; of longer ones the start and the end."""
SIGNS = ". free, A apple, O o your head and body, X x the other snake's"
INTRODUCTION = """You steer snake {slot} in a game of Snake for two on a board of {width} x {height} cells. \
Cells are (x, y): (0, 0) is at the bottom left, ({x}, {y}) at the top right. UP adds 1 to y, DOWN takes 1 from it, \
RIGHT adds 1 to x, LEFT takes 1 from it. Snakes are listed from head to tail."""
RULES = f"""Rules:
- Both snakes choose UP, DOWN, LEFT or RIGHT, and move one cell at the same time.
- A snake whose head reaches an apple scores one and grows by one cell.
- A snake dies if its head leaves the board or enters a body, its own included. Turning back into the own neck is death.
- Two heads that meet on one cell both die.
- The survivor wins. If both die in one turn, or the turns are over, more apples win, and equal apples are a draw.
- The game also ends when a snake has {MOST_APPLES} apples.

Stay alive first. Among the safe moves prefer those that bring you to an apple and keep ways open.
Think as long as you like. What you write is shown to you again next turn, so plans may go there.
End your answer with a line that has one word and nothing else: UP, DOWN, LEFT or RIGHT."""


class Last(NamedTuple):
    """The model's previous move of this game, and what it wrote."""

    move: str
    rationale: str


def prompt_of(position: Position, slot: str, number: int, board: Board, last: Last | None) -> str:
    """`number` is the round's, from 0."""
    scores, others = position.scores, {name: body for name, body in position.snakes.items() if name != slot}
    parts = [
        INTRODUCTION.format(slot=slot, width=board.width, height=board.height, x=board.width - 1, y=board.height - 1),
        f"Turn {number + 1} of {board.max_rounds}",
        f"Apples at: {_cells(position.apples)}",
        f"Your snake ({slot}): {_snake(position.snakes[slot], scores[slot])}",
        *(f"Other snake ({name}): {_snake(body, scores[name])}" for name, body in others.items()),
        f"The board, top row first ({SIGNS}):\n{drawn(position, slot)}",
        f"Your last move: {last.move if last else 'none'}",
        f"What you wrote then: {shortened(last.rationale) if last and last.rationale else 'nothing'}",
        RULES,
    ]
    return "\n\n".join(parts)


def direction_in(answer: str) -> str:
    """The last direction that is written in the answer, in any case of letters, also inside a word; "" for none."""
    places = {answer.upper().rfind(move): move for move in STEPS}
    return places[max(places)] if max(places) >= 0 else ""


def drawn(position: Position, slot: str) -> str:
    """The board as text: `O` and `o` are one's own head and body, `X` and `x` the other's."""
    signs = dict.fromkeys(position.apples, "A")
    for name, (head, *body) in position.snakes.items():
        signs |= dict.fromkeys(body, "o" if name == slot else "x") | {head: "O" if name == slot else "X"}
    rows = reversed(range(position.height))
    return "\n".join(" ".join(signs.get((x, y), ".") for x in range(position.width)) for y in rows)


def shortened(text: str) -> str:
    if len(text) <= REMEMBERED:
        return text
    left_out = len(text) - REMEMBERED
    return f"{text[:OF_ITS_START]}\n[{left_out} characters left out]\n{text[OF_ITS_START - REMEMBERED :]}"


def _snake(body: tuple[Cell, ...], score: int) -> str:
    return f"head {body[0]}, body {_cells(body[1:])}, apples eaten: {score}"


def _cells(cells: Iterable[Cell]) -> str:
    return ", ".join(map(str, cells)) or "none"
