"""`/metrics`, in Prometheus' text format: what this process counted, or all web processes of the host, and readings.

For operators alone: figures name policies, although none names the pair that is being played (`readings`).
"""

from __future__ import annotations

import hmac
import os
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from vlaarena import health
from vlaarena.monitoring.collector import Readings

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""Names the folder in which web processes of a host keep their counts, so that each can tell of all."""
disable_created_metrics()  # type: ignore[no-untyped-call]  # when each series began: as many again, and nobody asks
PASSED_ON = (
    "forwarded",
    "via",
    "x-forwarded",
    "x-real-ip",
    "x-client-ip",
    "client-ip",
    "true-client-ip",
    "cf-",
    "x-envoy",
)
"""How headers begin that proxies add."""
OLD_HTTP = "1.0"
"""What nginx speaks to a server behind a plain `proxy_pass`, which adds no header at all; no scraper does."""


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    if not may_read(request):
        raise Http404
    registry = CollectorRegistry()
    registry.register(Readings(health.parts_up))
    response = HttpResponse(generate_latest(_counted()) + generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
    response["Cache-Control"] = "no-store"
    return response


def may_read(request: HttpRequest) -> bool:
    """With the token. Where none is set: from this host, unless some proxy may have passed it on from who knows where.

    A proxy need not say that it is one, so that a site for the public (HTTPS) has no such door at all.
    """
    if settings.METRICS_TOKEN:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())
    if settings.HTTPS or _may_be_passed_on(request):
        return False
    return _is_loopback(request.META.get("REMOTE_ADDR", ""))


def _may_be_passed_on(request: HttpRequest) -> bool:
    if any(name.lower().startswith(PASSED_ON) for name in request.headers):
        return True
    return _http_version(request) == OLD_HTTP or not _names_this_host(request.headers.get("Host", ""))


def _http_version(request: HttpRequest) -> str:
    scope = getattr(request, "scope", {})  # of ASGI
    return str(scope.get("http_version") or request.META.get("SERVER_PROTOCOL", "").removeprefix("HTTP/"))


def _names_this_host(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    return name == "localhost" or _is_loopback(name)


def _is_loopback(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:  # none: a unix socket
        return False
    return ((address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address).is_loopback


def _counted() -> CollectorRegistry:
    if SHARED not in os.environ:
        return REGISTRY
    for file in Path(os.environ[SHARED]).glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        if not psutil.pid_exists(process):
            mark_process_dead(process)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry
