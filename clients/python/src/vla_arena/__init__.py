"""Play, watch and vote in a VLA Arena.

with Arena("http://127.0.0.1:8000") as arena:
    battle = arena.open_battle()
    turn = battle.play("put the red cube on the left plate")
    left, right = battle.episodes(turn)
    print(battle.vote("tie")["revealed_models"]["left"]["model_id"])
"""

from vla_arena.client import Arena, Battle
from vla_arena.episodes import Episode, Exact
from vla_arena.errors import ArenaError, Conflict, Invalid, NotAllowed, NotFound, TooMany, Unavailable, Unreachable

__all__ = [
    "Arena",
    "ArenaError",
    "Battle",
    "Conflict",
    "Episode",
    "Exact",
    "Invalid",
    "NotAllowed",
    "NotFound",
    "TooMany",
    "Unavailable",
    "Unreachable",
]
