"""`/metrics` in Prometheus' text format: the counts of this process or of all web processes of the host, and readings.

It is for operators only: figures name policies, though never the pair that is playing (see `readings`).
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
"""Names the folder in which the web processes of a host share their counts."""
disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the number of series, and nothing reads them
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
"""Prefixes of the headers that proxies add."""
OLD_HTTP = "1.0"
"""nginx uses this version behind a plain `proxy_pass`, which adds no header at all. No scraper does."""


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
    """Whether the request has the token. Without METRICS_TOKEN: whether it comes from this host and through no proxy.

    A proxy need not identify itself, so a public site (HTTPS) grants no access without a token.
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
    except ValueError:  # empty for a unix socket
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
