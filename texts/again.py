"""Answering a turn again: both sides, or one of them while the other's answer stays.

It is a turn of its own with the prompt of the last one, which it replaces in both conversations. Where one answer stays
both models are asked all the same, and the earlier answer is shown at the pace at which its model answers again:
otherwise the pace would be that of one model alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from arena import actions
from arena.actions.turns import TurnRequest, withdraw
from arena.errors import ArenaError, QueueUnavailable
from arena.live.release import was_cancelled
from arena.models import Attempt, Battle, Side, StartKind, Turn
from arena.rules import completed_turns, turn_status
from arena.store import get_store
from arena.visitors.networks import NO_DIGESTS, CallerDigests
from texts.models import Again, Answer


class NothingToRepeat(ArenaError):
    status, code = 409, "nothing_to_repeat"
    detail = "Only the last turn of a battle can be answered again, once both sides have answered it."


class AnswerGone(Exception):
    """The answer that stays is not in the store."""


@dataclass(frozen=True)
class Kept:
    """An answer that stays."""

    text: str
    answer: Answer
    duration_ms: float


def answer_again(battle: Battle, side: Side | None, caller: CallerDigests = NO_DIGESTS) -> Turn:
    """Have the last turn of the battle answered again, by both or by one side. `caller`: see `throttles.caller_of`.

    Raises NothingToRepeat, and what `submit_instruction` raises. No row is left behind then.
    """
    turn: Turn | None = None
    try:
        with transaction.atomic():
            last = _last(battle)
            request = TurnRequest(last.instruction, StartKind(last.start))
            [turn] = actions.submit_instruction(battle, request, caller)
            Again.objects.create(turn=turn, replaces=last, kept=_other(side))
    except QueueUnavailable:
        if turn is None or withdraw([turn], battle):
            raise
    return turn


def _last(battle: Battle) -> Turn:
    turns = [turn for turn in battle.turns_with_sides() if not was_cancelled(turn)]
    last = max(turns, key=lambda turn: turn.seq, default=None)
    if last is None or last not in completed_turns(turns):
        raise NothingToRepeat
    return last


def _other(side: Side | None) -> str:
    return "" if side is None else str(Side.RIGHT if side == Side.LEFT else Side.LEFT)


def repeats(turn: Turn) -> bool:
    """Whether the turn answers an earlier one again."""
    return Again.objects.filter(turn_id=turn.turn_id).exists()


def kept_answer(attempt: Attempt) -> Kept | None:
    """The answer that this attempt shows once more, if its side's stays. Raises AnswerGone."""
    found = Again.objects.filter(turn_id=attempt.turn_id, kept=attempt.side).select_related("replaces").first()
    if found is None:
        return None
    earlier = Attempt.objects.select_related("answer").get(turn_id=found.replaces_id, side=attempt.side)
    document = get_store().get(earlier.episode_id)
    if document is None:
        raise AnswerGone(f"{earlier.episode_id}, which is to stay, is not in the store")
    return Kept(document["text"], earlier.answer, earlier.duration_ms or 0.0)


def replaced_by(turn: Turn) -> frozenset[str]:
    """The turns of its battle that this turn or completed ones before it replace."""
    rows = Again.objects.filter(turn__battle_id=turn.battle_id, turn__seq__lte=turn.seq)
    found = {row.turn_id: row.replaces_id for row in rows}
    before = {each.turn_id: each for each in turn.battle.turns_with_sides()}
    done = {each for each in found if each == turn.turn_id or turn_status(before[each]) == "completed"}
    return frozenset(found[each] for each in done)
