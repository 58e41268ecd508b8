"""Metrics of sockets, events and votes of a web process, for /metrics."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

SOCKETS = Gauge("arena_sockets_open", "Open sockets of battles.", multiprocess_mode="livesum")
EVENTS = Counter("arena_events_sent", "Messages sent to browsers over sockets, snapshots included.", ["type"])
LATE = Histogram(
    "arena_step_late_seconds",
    "By how much a step was shown later than its turn's clock says, to each socket: a side had not played it yet.",
    buckets=(0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 15.0),
)
VOTES = Counter("arena_votes", "Votes cast.", ["vote"])
