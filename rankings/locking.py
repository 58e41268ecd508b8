"""The one lock under which counts and boards change: the row of `worker_status` that the aggregation writes."""

from __future__ import annotations

from rankings.models import WorkerStatus

WORKER = "rankings.aggregate"


def lock_rankings() -> WorkerStatus:
    """Lock the worker's row until the transaction ends. On SQLite the transaction itself (IMMEDIATE) is the lock."""
    WorkerStatus.objects.get_or_create(worker_name=WORKER, defaults={"status": "never run"})
    return WorkerStatus.objects.select_for_update().get(worker_name=WORKER)
