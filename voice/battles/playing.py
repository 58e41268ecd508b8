"""Playing a turn: both calls were held before it was sent, so what was said is passed on at once."""

from __future__ import annotations

import logging
from typing import Any

from arena import actions
from arena.actions import Ending
from arena.documents import identity
from arena.models import Attempt
from arena.queue.sweeps import worker_name
from arena.store import get_store
from voice.battles import lines
from voice.models import Conversation

log = logging.getLogger(__name__)


def play(episode_id: str) -> None:
    """Settle a side with its call. A duplicate or late message does nothing."""
    attempt = actions.claim_attempt(episode_id, worker_name())
    if attempt is None:
        log.info("%s cannot be claimed", episode_id)
        return
    held = Conversation.objects.filter(call__battle_id=attempt.turn.battle_id, call__side=attempt.side).first()
    if held is None:
        actions.fail_attempt(attempt, "policy_failed", "the agent could not be called")
        return
    said = lines.of_turns(held.turns)
    actions.pass_chunks(attempt, 0, [b"", *map(lines.chunk, said)])
    get_store().save(_document(attempt, said))
    ending = Ending(max(1, len(said)), held.ended, held.duration_seconds * 1000)
    actions.finish_attempt(attempt, ending, lambda: _join(held, attempt))


def _join(held: Conversation, attempt: Attempt) -> None:
    Conversation.objects.filter(pk=held.pk).update(attempt=attempt.episode_id)


def _document(attempt: Attempt, said: list[dict[str, str]]) -> dict[str, Any]:
    return {**identity(attempt), "format": "voice-1", "text": lines.write(said)}
