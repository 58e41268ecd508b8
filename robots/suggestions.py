"""Instructions that the battle page suggests, with the things that they are about."""

from __future__ import annotations

from dataclasses import dataclass

from robots.things import asked_for
from simulation.catalogue import Scene


@dataclass(frozen=True)
class Suggestion:
    """`things`: those that a seed may leave out, with blanks between them; the page then does not suggest it."""

    text: str
    things: str

    def __str__(self) -> str:
        return self.text


def suggestion(text: str, scene: Scene) -> Suggestion:
    return Suggestion(text, " ".join(asked_for(text, scene)) if scene.draws else "")
