"""Retention of recordings of battles without a vote (`settings.UNVOTED_DAYS`). Recordings of voted battles stay.

There are two steps, and both may be interrupted and repeated. First a recording is marked as expired: it is no longer
shown, and its battle is closed. After GRACE it is deleted, so that a backup made in the meantime is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from arena import actions, kinds
from arena.drawings.store import get_drawings
from arena.models import Attempt, Battle, BattleStatus, Turn
from arena.store import get_store

GRACE = timedelta(days=1)
BATCH = 500


@dataclass(frozen=True)
class Expiry:
    """`battles` and `recordings` that expired now, and the number of recordings `deleted` that had expired before."""

    battles: int = 0
    recordings: int = 0
    deleted: int = 0


def expire(days: float | None = None, grace: timedelta = GRACE) -> Expiry:
    """Expire recordings older than `days` (default: the setting; 0: never), and delete those that expired `grace` ago.

    Raises StoreUnavailable. What was done until then stays done.
    """
    battles = recordings = 0
    since = _untouched_since(days)
    if since:
        unvoted = list(_unvoted(since).values_list("battle_id", flat=True))  # no cursor while battles are changed
        for battle_id in unvoted:
            if expired := actions.expire_battle(battle_id, since):
                battles, recordings = battles + 1, recordings + expired
    for kind in kinds.every():
        kind.expire(since)
    return Expiry(battles, recordings, _delete(_due(grace)))


def forecast(days: float | None = None, grace: timedelta = GRACE) -> Expiry:
    """What `expire` would do now; changes nothing."""
    due, since = _due(grace).count(), _untouched_since(days)
    if since is None:
        return Expiry(deleted=due)
    unvoted = _unvoted(since)
    recordings = Attempt.objects.filter(turn__battle__in=unvoted, expired_at=None).count()
    return Expiry(unvoted.count(), recordings, due)


def _untouched_since(days: float | None) -> datetime | None:
    kept = float(settings.UNVOTED_DAYS) if days is None else days
    return timezone.now() - timedelta(days=kept) if kept > 0 else None


def _unvoted(since: datetime) -> QuerySet[Battle]:
    """Battles with recordings, without a vote or a running turn, that were not touched since then."""
    recorded = Attempt.objects.filter(expired_at=None, turn__battle=OuterRef("battle_id"))
    playing = Turn.objects.unsettled().filter(battle=OuterRef("battle_id"))
    unvoted = Battle.objects.exclude(status=BattleStatus.VOTED).filter(updated_at__lt=since)
    return unvoted.filter(Exists(recorded), ~Exists(playing)).order_by("pk")


def _due(grace: timedelta) -> QuerySet[Attempt]:
    return Attempt.objects.filter(expired_at__lte=timezone.now() - grace, recording_deleted=False).order_by("pk")


def _delete(due: QuerySet[Attempt]) -> int:
    """Delete the recordings, then mark them as deleted. If this is interrupted in between, repeating it is harmless."""
    deleted = 0
    while batch := list(due.values_list("episode_id", flat=True)[:BATCH]):
        get_store().delete(batch)
        get_drawings().delete(batch)
        for kind in kinds.every():
            kind.forget(batch)
        deleted += Attempt.objects.filter(episode_id__in=batch).update(recording_deleted=True)
    return deleted
