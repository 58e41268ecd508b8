"""What a web process counts of sockets, events and votes, for /metrics."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

SOCKETS = Gauge("arena_sockets_open", "Open sockets of battles.", multiprocess_mode="livesum")
EVENTS = Counter("arena_events_sent", "Messages sent to browsers over sockets, snapshots included.", ["type"])
VOTES = Counter("arena_votes", "Votes cast.", ["vote"])
