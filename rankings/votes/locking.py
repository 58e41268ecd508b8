"""The one lock under which counts and boards change: the row of `worker_status` that the aggregation writes."""

from __future__ import annotations

from django.db.models import F

from rankings.models import WorkerStatus

WORKER = "rankings.aggregate"


def lock_rankings() -> WorkerStatus:
    """Lock the worker's row until the transaction ends. On SQLite the transaction itself (IMMEDIATE) is the lock."""
    row = WorkerStatus.objects.select_for_update().filter(worker_name=WORKER)
    found = row.first()
    if found is None:
        WorkerStatus.objects.bulk_create([WorkerStatus(worker_name=WORKER, status="never run")], ignore_conflicts=True)
        found = row.get()
    return found


def raise_revision() -> None:
    """A publication that has read the counts before this is not written. The caller holds the lock."""
    WorkerStatus.objects.filter(worker_name=WORKER).update(revision=F("revision") + 1)
