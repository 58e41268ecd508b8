"""What the document of every recording says of where it belongs; the rest is the kind's own."""

from __future__ import annotations

from django.utils import timezone

from arena.models import Attempt
from arena.store import Document


def identity(attempt: Attempt) -> Document:
    turn, battle = attempt.turn, attempt.turn.battle
    return {
        "_id": attempt.episode_id,
        "attempt": attempt.tries,
        "session_id": battle.session.session_id,
        "battle_id": battle.battle_id,
        "turn_id": turn.turn_id,
        "turn_seq": turn.seq,
        "side": attempt.side,
        "model_id": attempt.model_id,
        "instruction": turn.instruction,
        "created_at": timezone.now(),
    }
