"""What a bundle's votes and its ranking have in common: how many votes of each outcome a pair has per day and task.

The counts name voters by numbers that hold within this publication alone, and no battles; the battles name no voters.
So nobody learns from a bundle which battles one person voted on, and every battle's vote must be among the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rankings.tally.counts import OUTCOMES
from rankings.tally.table import VoteTable

FORMAT, VERSION = "vla-arena-battle-bundle", 1
RANKING, COUNTS = "ranking.json", "counts.csv.gz"
Cell = tuple[str, ...]
"""Robot, scene, task, left and right model, day, and the outcome."""
OF_TABLE = ("setting", "scene", "task", "left", "right", "day")
OF_BATTLE = ("robot_id", "scene_id", "task_id", "left_model_id", "right_model_id", "day", "vote")


def ranking_cells(table: VoteTable) -> Counter[Cell]:
    """How many votes of each cell the counts hold."""
    texts = [[table.values[key][code] for code in table.codes[key].tolist()] for key in OF_TABLE]
    found: Counter[Cell] = Counter()
    for names, numbers in zip(zip(*texts, strict=True), table.outcomes.tolist(), strict=True):
        for outcome, number in zip(OUTCOMES, numbers, strict=True):
            found[(*names, outcome)] += number
    return found


def cells_in(battles: Iterable[Mapping[str, Any]]) -> list[Cell]:
    """The cell of each battle. Raises KeyError for a battle that lacks a column."""
    return [tuple(str(battle[name]) for name in OF_BATTLE) for battle in battles]
