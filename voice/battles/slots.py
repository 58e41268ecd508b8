"""The two slots of a battle: opening one for a call, and what comes of it. Only these functions change a slot."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from arena.actions.announce import lock_battle
from arena.errors import BattleClosed, TurnsPlayed
from arena.models import Battle, BattleStatus, Side, Turn
from voice.battles.errors import CallRunning, ConsentMissing, OtherAgentFirst, SlotUsed
from voice.models import Call

LABELS = {"a": Side.LEFT, "b": Side.RIGHT}
MOST_TRIES = 2
STALE = timedelta(seconds=30)
"""A call whose process has been silent for so long is lost."""


def open_slot(battle: Battle, label: str, consent: bool, may_publish: bool) -> Call:
    """A slot that may be called now. Raises ConsentMissing, BattleClosed, TurnsPlayed, OtherAgentFirst, CallRunning and
    SlotUsed."""
    if not consent:
        raise ConsentMissing
    side = LABELS[label]
    with transaction.atomic():
        locked = lock_battle(battle.battle_id)
        if locked.status != BattleStatus.ONGOING:
            raise BattleClosed
        if Turn.objects.filter(battle=locked).exists():
            raise TurnsPlayed
        calls = {call.side: call for call in Call.objects.filter(battle=locked)}
        if side == Side.RIGHT and not (Side.LEFT in calls and calls[Side.LEFT].settled):
            raise OtherAgentFirst
        call = calls.get(side) or Call(battle=locked, side=side)
        if call.status == Call.Status.TALKING:
            if not is_lost(call):
                raise CallRunning
            _fail(call, "the process that held the call ended")
        if call.settled:
            raise SlotUsed
        call.may_publish = may_publish
        call.save()
        return call


def is_lost(call: Call) -> bool:
    return call.heartbeat_at is None or call.heartbeat_at < timezone.now() - STALE


def claim(call_id: int, tries: int) -> Call | None:
    """Take an open slot for a call, once. None if it is taken, used, or of another try."""
    open_now = Call.objects.filter(pk=call_id, tries=tries, status=Call.Status.OPEN)
    if not open_now.update(status=Call.Status.TALKING, heartbeat_at=timezone.now()):
        return None
    return Call.objects.select_related("battle__session", "battle__left_model", "battle__right_model").get(pk=call_id)


def release(call_id: int, tries: int) -> bool:
    """Free a slot whose call is held by nobody any more. To be asked by the one process that holds calls, of a call
    that it does not hold. Whether there was one."""
    lost = Call.objects.filter(pk=call_id, tries=tries, status=Call.Status.TALKING).first()
    if lost is not None:
        fail(lost, "the process that held the call ended")
    return lost is not None


def beat(call: Call) -> None:
    Call.objects.filter(pk=call.pk, status=Call.Status.TALKING).update(heartbeat_at=timezone.now())


def end(call: Call) -> None:
    """The call was held, and its conversation is kept."""
    Call.objects.filter(pk=call.pk, status=Call.Status.TALKING).update(status=Call.Status.ENDED)


def fail(call: Call, story: str) -> Call:
    """The call could not be held: the slot may be used once more, and then never again."""
    with transaction.atomic():
        current = Call.objects.select_for_update().get(pk=call.pk)
        if current.status == Call.Status.TALKING:
            _fail(current, story)
        return current


def _fail(call: Call, story: str) -> None:
    call.story = story[:500]
    if call.tries < MOST_TRIES:
        call.tries, call.status, call.heartbeat_at = call.tries + 1, Call.Status.OPEN, None
    else:
        call.status = Call.Status.FAILED
    call.save()
