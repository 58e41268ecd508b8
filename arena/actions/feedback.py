"""Storing what a visitor adds to a vote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from arena.errors import NotVoted
from arena.models import Battle, BattleStatus, Feedback, Judgement

VOTE_FIRST = "Feedback is about a battle that has its vote: vote first."


class Said(NamedTuple):
    """`reasons`: respect of the kind -> the side that was better in it. `progress`: 0 to 100; None: not judged."""

    reasons: Mapping[str, Judgement]
    why: str
    left_progress: int | None
    right_progress: int | None


def check_voted(battle: Battle) -> None:
    """Raises NotVoted."""
    if battle.status != BattleStatus.VOTED:
        raise NotVoted(VOTE_FIRST)


def save_feedback(battle: Battle, said: Said) -> Feedback:
    """Replace the battle's feedback. The same again changes nothing but its date. Raises NotVoted."""
    check_voted(battle)
    reasons = {name: str(judgement) for name, judgement in said.reasons.items()}
    feedback, _ = Feedback.objects.update_or_create(battle=battle, defaults={**said._asdict(), "reasons": reasons})
    return feedback
