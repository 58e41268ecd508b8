"""Requests that wait (`Prefer: wait=N`): whether the client is still connected."""

from __future__ import annotations

from threading import Event

from django.http import HttpRequest

DISCONNECTED = "arena.disconnected"
"""The key of an event in the ASGI scope of a waiting request. It is set when the client disconnects."""
AT_ONCE = "arena.at_once"
"""A key in the scope of a request for which there was no place to wait."""


def disconnected(request: HttpRequest) -> Event:
    """Set when the client disconnects. Never set for a request that does not wait."""
    event: Event | None = getattr(request, "scope", {}).get(DISCONNECTED)
    return event or Event()


def must_not_wait(request: HttpRequest) -> bool:
    """Whether it is to be answered at once, since as many as may wait do so."""
    return AT_ONCE in getattr(request, "scope", {})
