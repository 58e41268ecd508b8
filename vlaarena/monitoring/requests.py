"""Request middleware: an id that log lines, response and queued work carry; a log line; and metrics."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import Counter, Histogram
from structlog.contextvars import bind_contextvars, clear_contextvars

from arena.api.serializers import is_public_id
from arena.ids import new_id
from vlaarena.monitoring.logs import is_probe

log = logging.getLogger(__name__)

# Up to what a call with `Prefer: wait=60` may take.
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 10.0, 60.0)
REQUESTS = Counter("arena_requests", "Requests answered.", ["route", "method", "status"])
REQUEST_SECONDS = Histogram(
    "arena_request_seconds", "From a request's first middleware to its answer.", ["route", "method"], buckets=SECONDS
)

HEADER = "X-Request-Id"
IDS = ("battle_id", "turn_id", "episode_id")
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
LONGEST_PATH = 200
STATIC, NOWHERE = "static", "nowhere"


class RequestWatch:
    """The outermost middleware. It ignores an id that a client sends, since that might belong to another request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        clear_contextvars()
        request_id = new_id("req")
        bind_contextvars(request_id=request_id)
        began = time.perf_counter()
        response = self._get_response(request)
        response[HEADER] = request_id
        _note(request, response.status_code, time.perf_counter() - began)
        return response  # the context stays bound: Django logs a 404 after this

    def process_view(self, request: HttpRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        bind_contextvars(**{name: kwargs[name] for name in IDS if name in kwargs and is_public_id(kwargs[name])})


def route_of(request: HttpRequest) -> str:
    """The URL pattern, such as `api/battles/<str:battle_id>`: a label with few values."""
    if request.resolver_match is not None:
        return request.resolver_match.route.rstrip("/") or "/"
    return STATIC if request.path.startswith(settings.STATIC_URL) else NOWHERE


def _note(request: HttpRequest, status: int, seconds: float) -> None:
    route = route_of(request)
    method = request.method if request.method in METHODS else "other"
    REQUESTS.labels(route, method, status).inc()
    REQUEST_SECONDS.labels(route, method).observe(seconds)
    if route == STATIC or is_probe(request.path):
        return
    fields = {"ms": round(seconds * 1e3, 1), "route": route, "status": status, "method": method}
    log.info("%s %s %d", method, request.path[:LONGEST_PATH], status, extra=fields)
