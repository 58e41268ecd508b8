"""Every request: an id that its log lines, its answer and the work it sends to others bear; a line; and its figures."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from structlog.contextvars import bind_contextvars, clear_contextvars

from arena.api.serializers import is_public_id
from arena.ids import new_id
from vlaarena.log_filters import is_asked_all_the_time
from vlaarena.monitoring.instruments import REQUEST_SECONDS, REQUESTS

log = logging.getLogger(__name__)

HEADER = "X-Request-Id"
IDS = ("battle_id", "turn_id", "episode_id")
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")
LONGEST_PATH = 200
STATIC, NOWHERE = "static", "nowhere"


class RequestWatch:
    """The outermost middleware. An id that a request brings along is not taken over: lines must not be mixed up."""

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
        return response  # what is bound stays: Django has its say about a 404 after this

    def process_view(self, request: HttpRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        bind_contextvars(**{name: kwargs[name] for name in IDS if name in kwargs and is_public_id(kwargs[name])})


def route_of(request: HttpRequest) -> str:
    """The address with its parts named, `api/battles/<str:battle_id>`: there are only so many of these."""
    if request.resolver_match is not None:
        return request.resolver_match.route.rstrip("/") or "/"
    return STATIC if request.path.startswith(settings.STATIC_URL) else NOWHERE


def _note(request: HttpRequest, status: int, seconds: float) -> None:
    route = route_of(request)
    method = request.method if request.method in METHODS else "other"
    REQUESTS.labels(route, method, status).inc()
    REQUEST_SECONDS.labels(route, method).observe(seconds)
    if route == STATIC or is_asked_all_the_time(request.path):
        return
    told = {"ms": round(seconds * 1e3, 1), "route": route, "status": status, "method": method}
    log.info("%s %s %d", method, request.path[:LONGEST_PATH], status, extra=told)
