"""What is shown before a battle's first instruction: the first state of its own seed, which is what is then played.

Made by a worker (`robots.first_state_maker`) for every battle anew, whatever its seed, so that no time tells one battle
from another.
"""

from __future__ import annotations

from arena.models import Battle
from robots.models import FirstState


def shown(battle: Battle) -> bytes | None:
    """The packed view row of a battle's first state; None until it is made, for which this asks."""
    found = FirstState.objects.filter(battle=battle).values_list("row", flat=True).first()
    if found is None:
        FirstState.objects.bulk_create([FirstState(battle_id=battle.battle_id)], ignore_conflicts=True)
    return bytes(found) if found else None
