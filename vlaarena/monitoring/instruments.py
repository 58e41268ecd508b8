"""What a web process counts of its requests; other counts are in arena.metrics and arena.store."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

# Up to what a call with `Prefer: wait=60` may take.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0, 60.0)

REQUESTS = Counter("arena_requests", "Requests answered.", ["route", "method", "status"])
REQUEST_SECONDS = Histogram(
    "arena_request_seconds", "From a request's first middleware to its answer.", ["route", "method"], buckets=SECONDS
)
