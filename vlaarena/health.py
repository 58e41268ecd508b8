"""Health endpoints: `health` for people and the supervisor, `live` and `ready` for orchestrators and load balancers."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pymongo
from asgiref.sync import async_to_sync, sync_to_async
from channels import DEFAULT_CHANNEL_LAYER
from channels.layers import channel_layers
from django.conf import settings
from django.db import connection
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, authentication_classes, throttle_classes
from rest_framework.request import Request
from rest_framework.response import Response

from arena.store import COLLECTION, NO_EPISODE
from vlaarena.celery import app

Check = Callable[[], Awaitable[str]]
PART_TIMEOUT_S = 1.5
HEALTHY_TRUSTED_S = 1.0  # how long a healthy result is cached, so that frequent callers do not load the parts
WORKER_ANSWERS_S = 1.2  # how long a worker may take to answer
WORKER_TRUSTED_S = 5.0  # how long a worker's answer is cached; a ping takes a round trip through the broker
NEEDED = ("database", "episodes", "broker", "channels")  # what a web process needs to serve; it needs no worker

# The event loop's own executor would wait for its threads at the end of a check, however long a part stalls them.
THREADS = ThreadPoolExecutor(12, thread_name_prefix="health")

Parts = dict[str, dict[str, str]]
_healthy: tuple[float, Parts] = (float("-inf"), {})
_worker_answered = float("-inf")


def _endpoint(name: str, summary: str, description: str, parts: Callable[[], Parts], *statuses: int) -> Any:
    def view(request: Request) -> Response:
        return _response(parts())

    described = extend_schema(
        operation_id=name,
        summary=summary,
        description=description,
        responses=dict.fromkeys(statuses, OpenApiTypes.OBJECT),
    )
    return described(api_view(["GET"])(authentication_classes([])(throttle_classes([])(view))))


health = _endpoint(
    "health",
    "The state of every part",
    "The state of every part. 200 when all answer, 503 when one is down.",
    lambda: parts_now(),
    *(200, 503),
)
live = _endpoint(
    "health_live",
    "Whether the web process answers",
    "Whether the web process answers at all. No part is checked. Restart a process that does not answer.",
    dict,
    200,
)
ready = _endpoint(
    "health_ready",
    "Whether the web process can serve",
    "Whether the web process can serve: 503 while a part that it needs is down. It needs no workers.",
    lambda: {name: part for name, part in parts_now().items() if name in NEEDED},
    *(200, 503),
)


def parts_now() -> Parts:
    """The state of every part. A healthy result may be HEALTHY_TRUSTED_S old."""
    global _healthy
    when, parts = _healthy
    if time.monotonic() - when >= HEALTHY_TRUSTED_S:
        parts = async_to_sync(check_parts)()
        if _all_up(parts):
            _healthy = (time.monotonic(), parts)
    return parts


def parts_up() -> dict[str, bool]:
    """Part -> whether it answers."""
    return {name: part["status"] == "ok" for name, part in parts_now().items()}


def _all_up(parts: Parts) -> bool:
    return all(part["status"] == "ok" for part in parts.values())


def _response(parts: Parts) -> Response:
    up = _all_up(parts)
    body = {"status": "ok" if up else "down", **({"parts": parts} if parts else {})}
    response = Response(body, status=200 if up else 503)
    response["Cache-Control"] = "no-store"
    return response


async def check_parts() -> Parts:
    """Check all parts concurrently; each has PART_TIMEOUT_S to answer."""
    checks: dict[str, Check] = {
        "database": sync_to_async(_check_database),
        "episodes": sync_to_async(_check_episodes, thread_sensitive=False, executor=THREADS),
        "broker": sync_to_async(_check_broker, thread_sensitive=False, executor=THREADS),
        "channels": _check_channels,
        "worker": sync_to_async(_check_worker, thread_sensitive=False, executor=THREADS),
    }
    states = await asyncio.gather(*(_state(check) for check in checks.values()))
    return dict(zip(checks, states, strict=True))


async def _state(check: Check) -> dict[str, str]:
    try:
        detail = await asyncio.wait_for(check(), PART_TIMEOUT_S)
    except TimeoutError:
        return {"status": "down", "detail": f"no answer in {PART_TIMEOUT_S} s"}
    except Exception as error:  # noqa: BLE001 - whatever a part raises is its state
        return {"status": "down", "detail": type(error).__name__}
    return {"status": "ok", "detail": detail}


def _check_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return connection.vendor


def _check_episodes() -> str:
    # A server that can neither read nor write still answers a ping.
    _mongo()[settings.MONGO_DATABASE][COLLECTION].find_one(NO_EPISODE)
    return "answers"


@functools.lru_cache(maxsize=1)
def _mongo() -> pymongo.MongoClient[dict[str, Any]]:
    return pymongo.MongoClient(settings.MONGO_URL, serverSelectionTimeoutMS=1000, socketTimeoutMS=1000, maxPoolSize=4)


def _check_broker() -> str:
    with app.connection_for_read() as broker:
        broker.ensure_connection(max_retries=1, timeout=1, interval_start=0.1)
    return "answers"


async def _check_channels() -> str:
    layer = channel_layers[DEFAULT_CHANNEL_LAYER]
    await layer.group_add("health", "health")
    await layer.group_discard("health", "health")
    return "answers"


def _check_worker() -> str:
    global _worker_answered
    if time.monotonic() - _worker_answered >= WORKER_TRUSTED_S:
        if not app.control.ping(timeout=WORKER_ANSWERS_S, limit=1):
            raise NoWorker
        _worker_answered = time.monotonic()
    return "answers"  # this endpoint is public; only the status page names hosts


class NoWorker(Exception):
    """No Celery worker answered."""
