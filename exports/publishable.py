"""Which battles may leave the arena as data: those whose vote counts and whose content everybody may see.

Left out are battles before their vote, hidden and spoiled ones, those with an instruction that a moderator hides or
with an open report, calibration battles, what is older than `ARENA_DATA_SINCE`, and votes that moderators excluded.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from arena.kinds import Kind
from arena.models import BattleStatus, ProcessingStatus, Purpose, Turn, Vote
from community.models import Report

ABOUT_THE_BATTLE = (Report.What.BATTLE, Report.What.INSTRUCTION)


def votes_of(kind: Kind) -> QuerySet[Vote]:
    """The votes of a kind that have been counted in a publication, oldest first."""
    counted = {"counted_vote__counted": True, "processing_status": ProcessingStatus.PROCESSED}
    return visible_votes(kind).filter(purpose=Purpose.RANK, **counted)


def visible_votes(kind: Kind) -> QuerySet[Vote]:
    """All votes whose battle everybody may see, whether or not they count, oldest first."""
    visible = Vote.objects.filter(
        kind=kind.id, battle__status=BattleStatus.VOTED, battle__spoiled=False, battle__hidden_at=None
    )
    if settings.DATA_SINCE:
        visible = visible.filter(battle__created_at__gte=settings.DATA_SINCE)
    battle = OuterRef("battle_id")
    hidden = Turn.objects.filter(battle=battle).exclude(instruction_hidden_at=None)
    reported = Report.objects.filter(battle=battle, state=Report.State.OPEN, what__in=ABOUT_THE_BATTLE)
    return visible.filter(~Exists(hidden), ~Exists(reported)).order_by("pk")


def left_out(kind: Kind, battle_ids: Iterable[str]) -> list[str]:
    """Those of these battles that may not leave, the unknown ones included."""
    wanted = list(battle_ids)
    known = set(votes_of(kind).filter(battle__battle_id__in=wanted).values_list("battle__battle_id", flat=True))
    return [battle_id for battle_id in wanted if battle_id not in known]
