"""How many publications are kept: all of the last days, and of each day before them the last one."""

from __future__ import annotations

from datetime import UTC, timedelta

from django.conf import settings
from django.utils import timezone

from rankings.models import Snapshot


def thin_out() -> int:
    """Delete snapshots older than `settings.SNAPSHOT_DAYS` with their reports and counts files, but for each day's last
    (UTC). 0 days: keep all. Returns how many went."""
    if not settings.SNAPSHOT_DAYS:
        return 0
    before = timezone.now() - timedelta(days=settings.SNAPSHOT_DAYS)
    old = list(Snapshot.objects.filter(made_at__lt=before).order_by("made_at", "pk").values_list("pk", "made_at"))
    kept = {made_at.astimezone(UTC).date(): key for key, made_at in old}.values()
    gone = [key for key, _ in old if key not in kept]
    Snapshot.objects.filter(pk__in=gone).delete()
    return len(gone)
