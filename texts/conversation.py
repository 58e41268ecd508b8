"""What a contestant is told: its own side of the battle so far, and the new prompt. The other side's stays hidden."""

from __future__ import annotations

from django.conf import settings

from arena.models import Attempt, Side, StartKind, Turn
from arena.rules import sides_of, turn_status
from arena.store import get_store
from texts import again
from texts.client import Message
from texts.models import LanguageModel


class AnswerMissing(Exception):
    """An answer that the conversation goes on from is not in the store."""


def conversation(attempt: Attempt, model: LanguageModel) -> list[Message]:
    """The messages of the request. Raises AnswerMissing."""
    system = [_message("system", model.system_prompt)] if model.system_prompt else []
    before = [_exchange(turn, Side(attempt.side)) for turn in turns_before(attempt.turn)]
    kept = shortened(before, settings.TEXT["conversation_characters"] - len(attempt.turn.instruction))
    return [*system, *(each for exchange in kept for each in exchange), _message("user", attempt.turn.instruction)]


def turns_before(turn: Turn) -> list[Turn]:
    """The turns that this one goes on from, in order. Failed ones do not count, and a reset begins anew."""
    if turn.start == StartKind.RESET:
        return []
    earlier = [each for each in turn.battle.turns_with_sides() if each.seq < turn.seq and not each.is_fork]
    replaced = again.replaced_by(turn)
    completed = sorted(
        (each for each in earlier if turn_status(each) == "completed" and each.turn_id not in replaced),
        key=lambda each: each.seq,
    )
    resets = [number for number, each in enumerate(completed) if each.start == StartKind.RESET]
    return completed[resets[-1] if resets else 0 :]


def shortened(exchanges: list[tuple[Message, Message]], characters: int) -> list[tuple[Message, Message]]:
    """The last whole exchanges that have so many characters together: what every contestant can read."""
    kept: list[tuple[Message, Message]] = []
    for exchange in reversed(exchanges):
        characters -= sum(len(message["content"]) for message in exchange)
        if characters < 0:
            break
        kept.insert(0, exchange)
    return kept


def _exchange(turn: Turn, side: Side) -> tuple[Message, Message]:
    episode_id = sides_of(turn)[side].episode_id
    document = get_store().get(episode_id)
    if document is None:
        raise AnswerMissing(f"{episode_id}, which this turn goes on from, is not in the store")
    return _message("user", turn.instruction), _message("assistant", document["text"])


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
