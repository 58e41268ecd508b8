"""Requests that wait (`Prefer: wait=N`): whether the client is still connected."""

from __future__ import annotations

from threading import Event

from django.http import HttpRequest

DISCONNECTED = "arena.disconnected"
"""The key of an event in the ASGI scope of a waiting request. It is set when the client disconnects."""


def disconnected(request: HttpRequest) -> Event:
    """Set when the client disconnects. Never set for a request that does not wait."""
    event: Event | None = getattr(request, "scope", {}).get(DISCONNECTED)
    return event or Event()
