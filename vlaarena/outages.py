"""Answers 503 with Retry-After while the database or the episode store is unavailable."""

from __future__ import annotations

import logging

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from arena.errors import ArenaError, DatabaseUnavailable, EpisodesUnavailable
from arena.store import StoreUnavailable

log = logging.getLogger(__name__)
RETRY_AFTER_S = 5


class TellOutages(MiddlewareMixin):
    """Middleware for pages and plain views. The REST framework handles these errors in its own views."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """None for any other error, which becomes a 500."""
        refusal = _refusal(error)
        if refusal is None:
            return None
        log.error("%s: %s", request.path, error)
        if request.path.startswith("/api/"):
            response: HttpResponse = JsonResponse(refusal.body(), status=503)
        else:
            response = render(request, "503.html", status=503)
        response["Retry-After"] = str(RETRY_AFTER_S)
        return response


def _refusal(error: Exception) -> ArenaError | None:
    if isinstance(error, (OperationalError, InterfaceError)):
        return DatabaseUnavailable()
    return EpisodesUnavailable() if isinstance(error, StoreUnavailable) else None
