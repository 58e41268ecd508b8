"""Clients that ask to be kept waiting (`Prefer: wait=N`): how many may be at once, and whether one is still there."""

from __future__ import annotations

from threading import Event

from django.http import HttpRequest

GONE = "arena.gone"
"""Names, in the ASGI scope of a request that is kept waiting, an event that is set when its client has gone away."""


def places(web_threads: int) -> int:
    """How many requests of a process may be kept waiting at once: a third of its threads."""
    return max(1, web_threads // 3)


def gone_of(request: HttpRequest) -> Event:
    """Set when the client has gone away; never, where nobody tells."""
    told: Event | None = getattr(request, "scope", {}).get(GONE)
    return told or Event()
