"""The smallest kind: a contestant tosses a coin, which lands on the side that its family names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from arena import actions
from arena.actions import Ending
from arena.kinds import Json, Kind, Place
from arena.models import Attempt, ContestantQuerySet
from arena.queue.sweeps import worker_name
from arena.store import get_store


class Coin(Kind):
    id = address = "coin"
    template = "coin/battle.html"
    played_here = True
    longest = 1

    @property
    def chunk_s(self) -> float:
        return 1 / float(settings.RELEASE["speed"])

    def places(self) -> Mapping[str, Sequence[str]]:
        return {"table": ("wood",)}

    def eligible(self, place: Place) -> ContestantQuerySet[Any]:
        return self.contestants().contestants()

    def play(self, episode_id: str) -> None:
        attempt = actions.claim_attempt(episode_id, worker_name())
        if attempt is None:
            return
        landed = attempt.model.family
        actions.pass_chunks(attempt, 0, [b"", landed.encode()])
        about = {"battle_id": attempt.turn.battle_id, "turn_id": attempt.turn_id, "side": attempt.side}
        get_store().save({"_id": attempt.episode_id, "attempt": attempt.tries, **about, "landed": landed})
        actions.finish_attempt(attempt, Ending(length=1, termination_reason="landed", duration_ms=0.0))

    def stand_in(self, known: bytes, known_number: int, number: int) -> bytes:
        return known

    def frames(self, first: int, left: Sequence[bytes], right: Sequence[bytes]) -> Json:
        return {"left": [each.decode() for each in left], "right": [each.decode() for each in right]}

    def recording(self, attempt: Attempt, document: Json, common_length: int, exact: bool) -> Json:
        outcome = self.outcome(attempt) if exact else None
        return {"landed": document["landed"], "side": attempt.side, "exact": exact, "outcome": outcome}
