"""The one lock under which counts and boards change: the row of `worker_status` that the aggregation writes."""

from __future__ import annotations

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
