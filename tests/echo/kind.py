"""What the core asks of this kind. A chunk is one word; chunk 0, the start, is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.conf import settings

from arena.kinds import Json, Kind, Place
from arena.models import Attempt, Contestant, ContestantQuerySet

LONGEST = 40


class Echo(Kind):
    id = "echo"
    reasons: ClassVar[Mapping[str, Any]] = {"clearer": "Clearer"}
    played_here = True
    template = "echo/battle.html"
    address = "echo"

    def places(self) -> Mapping[str, Sequence[str]]:
        return {"words": ("valley", "cave")}

    def eligible(self, place: Place) -> ContestantQuerySet[Any]:
        return self.contestants().contestants()

    def facts(self, contestant: Contestant) -> Json:
        return {"says": contestant.family}

    def play(self, episode_id: str) -> None:
        from tests.echo.play import play

        play(episode_id)

    @property
    def chunk_s(self) -> float:
        return 0.1 / float(settings.RELEASE["speed"])

    @property
    def longest(self) -> int:
        return LONGEST

    def stand_in(self, known: bytes, known_number: int, number: int) -> bytes:
        return b""

    def frames(self, first: int, left: Sequence[bytes], right: Sequence[bytes]) -> Json:
        """A word of each side per chunk, "" where a side has none."""
        sides = [[word.decode() for word in side] for side in (left, right)]
        return {"from_chunk": first, "left": sides[0], "right": sides[1]}

    def recording(self, attempt: Attempt, document: Json, common_length: int, exact: bool) -> Json:
        """The words are all there is to see, and so they are told before the vote, too."""
        words = [*document["words"], *[""] * (common_length - len(document["words"]))]
        told = {"episode_id": attempt.episode_id, "side": attempt.side, "words": words, "exact": exact}
        return {**told, "outcome": self.outcome(attempt) if exact else None}

    def page_context(self, place: Place) -> Json:
        return {"suggestions": ["good morning, valley"]}
