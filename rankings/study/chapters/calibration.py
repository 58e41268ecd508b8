"""Votes foretold by ratings."""

from __future__ import annotations

from rankings.study.chapters.form import SEED, Chapter
from rankings.study.foreseeing import ForetoldBoard, held

BOARDS = (
    ForetoldBoard(10, 300, 60, 100),
    ForetoldBoard(10, 1000, 100, 100),
    ForetoldBoard(10, 4000, 300, 100),
    ForetoldBoard(10, 4000, 300, 200),
    ForetoldBoard(10, 4000, 60, 200),
    ForetoldBoard(10, 20_000, 2000, 0),
    ForetoldBoard(10, 20_000, 2000, 100),
    ForetoldBoard(30, 20_000, 2000, 200),
)

TEXT = """
## Calibration
Voters have tastes and cast lognormally many votes each, pairs are drawn unequally. Held: in how many bins the
interval of the favourites' score holds the score that infinitely many voters would give on the same pairs. Gap: in
how many bins the interval of actual less predicted holds 0. Wanted: 93 to 97 %. Error: the published mean distance
between predicted and actual, and its published part due to chance. {repeats} arenas each.

| policies | votes | voters | taste | bins | held | gap | error | by chance |
|---|---|---|---|---|---|---|---|---|
{rows}
"""


def chapter(repeats: int) -> Chapter:
    return Chapter(TEXT.format(repeats=repeats, rows="\n".join(_row(board, repeats) for board in BOARDS)), {})


def _row(board: ForetoldBoard, repeats: int) -> str:
    found = held(board, repeats=repeats, seed=SEED)
    about = f"| {board.policies} | {board.votes} | {board.voters} | {board.taste:.0f} | {found.bins} "
    return f"{about}| {100 * found.actual:.1f} % | {100 * found.gap:.1f} % | {found.error:.4f} | {found.chance:.4f} |"
