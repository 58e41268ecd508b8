"""Moderators hide battles and instructions from the public, and show them again.

Hiding is about publication alone: the vote of a hidden battle counts as before, and what the models played stays as it
is. Whoever started the battle, and staff, still see it.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from arena.audit import Act, clean_reason, note
from arena.models import Battle, Turn
from arena.signals import words_changed


@transaction.atomic
def hide_battle(battle: Battle, moderator: User, reason: str) -> bool:
    """Returns False, and changes nothing, if it is hidden already. Raises ReasonMissing."""
    why = clean_reason(reason)
    shown = Battle.objects.filter(pk=battle.pk, hidden_at=None)
    if not shown.update(hidden_at=timezone.now(), hidden_by=moderator, hidden_reason=why):
        return False
    note(Act.HIDE_BATTLE, battle, moderator, why)
    return True


@transaction.atomic
def show_battle(battle: Battle, moderator: User, reason: str) -> bool:
    """Undo `hide_battle`. Returns False if it is not hidden. Raises ReasonMissing."""
    why = clean_reason(reason)
    hidden = Battle.objects.filter(pk=battle.pk, hidden_at__isnull=False)
    if not hidden.update(hidden_at=None, hidden_by=None, hidden_reason=""):
        return False
    note(Act.SHOW_BATTLE, battle, moderator, why)
    return True


@transaction.atomic
def hide_instruction(turn: Turn, moderator: User, reason: str) -> bool:
    """Hide the text of a turn, and of the battle's other turns with the same text, such as those of several starts.

    Returns False if it is hidden already. Raises ReasonMissing.
    """
    why = clean_reason(reason)
    shown = Turn.objects.filter(
        battle__battle_id=turn.battle_id, instruction=turn.instruction, instruction_hidden_at=None
    )
    if not shown.update(instruction_hidden_at=timezone.now()):
        return False
    words_changed.send(Turn, battle_ids=[turn.battle_id])
    note(Act.HIDE_INSTRUCTION, turn, moderator, why)
    return True


@transaction.atomic
def show_instruction(turn: Turn, moderator: User, reason: str) -> bool:
    """Undo `hide_instruction`. Returns False if it is not hidden. Raises ReasonMissing."""
    why = clean_reason(reason)
    same = Turn.objects.filter(battle__battle_id=turn.battle_id, instruction=turn.instruction)
    if not same.filter(instruction_hidden_at__isnull=False).update(instruction_hidden_at=None):
        return False
    words_changed.send(Turn, battle_ids=[turn.battle_id])
    note(Act.SHOW_INSTRUCTION, turn, moderator, why)
    return True
