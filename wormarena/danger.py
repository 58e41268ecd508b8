"""How close a move was to a collision. No Django."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wormarena.game_file import GameFacts

FREE_CELLS = 1
"""With at most so many free cells beside its head, a snake is near a collision."""
STEPS = ((0, 1), (0, -1), (-1, 0), (1, 0))


def near_collisions(facts: GameFacts) -> set[tuple[int, int]]:
    """(round, slot) of the moves made with hardly a free cell beside the head, and of those that killed."""
    found: set[tuple[Any, int]] = {
        (each.death_round, each.slot) for each in facts.players if each.death_round is not None
    }
    before: Any = facts.document.get("initial_state")
    for frame in facts.frames:
        if isinstance(before, dict):
            found |= {(frame.get("round"), slot) for slot in _cornered(before, facts)}
        before = frame.get("state")
    return {(number, slot) for number, slot in found if number is not None}


def _cornered(state: Mapping[str, Any], facts: GameFacts) -> list[int]:
    """The slots whose snakes have at most FREE_CELLS free cells beside their heads."""
    snakes = state.get("snakes") or {}
    taken = {(x, y) for cells in snakes.values() for x, y in cells}
    found = []
    for slot, cells in snakes.items():
        beside = [(cells[0][0] + x, cells[0][1] + y) for x, y in STEPS] if cells else []
        free = [(x, y) for x, y in beside if 0 <= x < facts.width and 0 <= y < facts.height and (x, y) not in taken]
        if cells and slot in ("0", "1") and len(free) <= FREE_CELLS:
            found.append(int(slot))
    return found
