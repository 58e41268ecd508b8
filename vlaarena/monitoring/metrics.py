"""`/metrics`, in Prometheus' text format: what this process counted, or all web processes of the host, and readings.

For operators: figures name policies, so nobody else may read them.
"""

from __future__ import annotations

import hmac
import os
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from pathlib import Path

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
FORWARDED = ("X-Forwarded-For", "Forwarded", "Via")


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
    """With the token; or from a network that may, unless some proxy passed it on from who knows where."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer" and settings.METRICS_TOKEN:
        return hmac.compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())
    if any(name in request.headers for name in FORWARDED):
        return False
    with suppress(ValueError):  # no address: a unix socket
        address = ip_address(request.META.get("REMOTE_ADDR", ""))
        plain = (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
        return any(plain in network for network in settings.METRICS_NETWORKS)
    return False


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
