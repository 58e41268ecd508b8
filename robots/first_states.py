"""What is shown before a battle's first instruction: the first state of its own seed, which is what is then played.

Made by a worker (`robots.first_state_maker`) for every battle anew, whatever its seed, so that no time tells one battle
from another.
"""

from __future__ import annotations

from arena.models import Battle
from robots.models import FirstState


def of(battle: Battle) -> FirstState | None:
    """A battle's first state; None until it is made, for which this asks."""
    found = FirstState.objects.filter(battle=battle).first()
    if found is None:
        FirstState.objects.bulk_create([FirstState(battle_id=battle.battle_id)], ignore_conflicts=True)
    return found if found and found.row else None


def left_out(battle: Battle) -> list[str] | None:
    """The things of the scene that the battle's seed left out; None while that is unknown, for which this asks."""
    found = of(battle)
    return found.left_out if found else None
