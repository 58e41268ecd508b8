"""Battles of several starts: their seeds, and which of them are still to be played.

One episode says little about a contestant that succeeds now and then. A battle of three starts plays one instruction
from three first states, each in a turn of its own, and takes one vote on all of them. The first start has the battle's
own seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from arena.models import Battle, Turn

ONE, SEVERAL = 1, 3
CHOICES = (ONE, SEVERAL)
"""How many starts a battle may have."""
SEED_BITS = 31


def seeds(battle: Battle) -> list[int]:
    """The seeds of the battle's starts, in order: its own seed, and those derived from it."""
    return [battle.seed, *(_derived(battle.seed, number) for number in range(2, battle.starts + 1))]


def number_of(turn: Turn) -> int | None:
    """Which of its battle's starts a turn plays, from 1. None in battles of one start, and for forks."""
    return None if turn.start_seed is None else seeds(turn.battle).index(turn.start_seed) + 1


def missing(battle: Battle, completed: Iterable[Turn]) -> list[int]:
    """The seeds of the starts that are not completed yet. `completed`: the turns that both sides have completed."""
    played = {turn.start_seed for turn in completed}
    return [seed for seed in seeds(battle) if seed not in played]


def _derived(seed: int, number: int) -> int:
    """The first 31 bits of the SHA-256 of "SEED/NUMBER" in decimals."""
    digest = hashlib.sha256(f"{seed}/{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - SEED_BITS)
