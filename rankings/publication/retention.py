"""Which publications are kept: all of the last days, and before them the last of each day and kind."""

from __future__ import annotations

from datetime import UTC, timedelta

from django.conf import settings
from django.utils import timezone

from rankings.models import Snapshot


def thin_out() -> int:
    """Delete snapshots older than `settings.SNAPSHOT_DAYS` with their reports and counts files, except each kind's last
    of a day (UTC). 0 days: keep all. Returns how many were deleted."""
    if not settings.SNAPSHOT_DAYS:
        return 0
    before = timezone.now() - timedelta(days=settings.SNAPSHOT_DAYS)
    rows = Snapshot.objects.filter(made_at__lt=before).order_by("made_at", "pk").values_list("pk", "kind", "made_at")
    old = {key: (kind, made_at.astimezone(UTC).date()) for key, kind, made_at in rows}
    kept = {day: key for key, day in old.items()}.values()
    gone = [key for key in old if key not in kept]
    Snapshot.objects.filter(pk__in=gone).delete()
    return len(gone)
