"""Which parts of the arena answer: one address for people, load balancers and the supervisor."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable
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

from vlaarena.celery import app

Check = Callable[[], Awaitable[str]]
PART_TIMEOUT_S = 1.5
HEALTHY_TRUSTED_S = 1.0  # how long good news counts: many may ask, the parts need not be asked as often
WORKER_TRUSTED_S = 5.0  # how long an answer of a worker counts; asking takes a round trip through the broker

Parts = dict[str, dict[str, str]]
_healthy: tuple[float, Parts] = (float("-inf"), {})
_worker_answered: tuple[float, str] = (float("-inf"), "")


@extend_schema(
    operation_id="health",
    description="The state of every part. 200 when all answer, 503 when one is down.",
    responses={200: OpenApiTypes.OBJECT, 503: OpenApiTypes.OBJECT},
)
@api_view(["GET"])
@authentication_classes([])
@throttle_classes([])
def health(request: Request) -> Response:
    global _healthy
    when, parts = _healthy
    if time.monotonic() - when >= HEALTHY_TRUSTED_S:
        parts = async_to_sync(check_parts)()
    down = any(part["status"] != "ok" for part in parts.values())
    if not down and parts is not _healthy[1]:
        _healthy = (time.monotonic(), parts)
    response = Response({"status": "down" if down else "ok", "parts": parts}, status=503 if down else 200)
    response["Cache-Control"] = "no-store"
    return response


async def check_parts() -> Parts:
    """Ask every part at once; each has PART_TIMEOUT_S to answer."""
    checks: dict[str, Check] = {
        "database": sync_to_async(_ask_database),
        "episodes": sync_to_async(_ask_episodes, thread_sensitive=False),
        "broker": sync_to_async(_ask_broker, thread_sensitive=False),
        "channels": _ask_channels,
        "worker": sync_to_async(_ask_worker, thread_sensitive=False),
    }
    states = await asyncio.gather(*(_state(check) for check in checks.values()))
    return dict(zip(checks, states, strict=True))


async def _state(check: Check) -> dict[str, str]:
    try:
        detail = await asyncio.wait_for(check(), PART_TIMEOUT_S)
    except TimeoutError:
        return {"status": "down", "detail": f"no answer in {PART_TIMEOUT_S} s"}
    except Exception as error:  # noqa: BLE001 - whatever a part raises is the news that health is asked for
        return {"status": "down", "detail": type(error).__name__}
    return {"status": "ok", "detail": detail}


def _ask_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return connection.vendor


def _ask_episodes() -> str:
    _mongo().admin.command("ping")
    return "answers"


@functools.lru_cache(maxsize=1)
def _mongo() -> pymongo.MongoClient[dict[str, Any]]:
    return pymongo.MongoClient(settings.MONGO_URL, serverSelectionTimeoutMS=1000, socketTimeoutMS=1000, maxPoolSize=4)


def _ask_broker() -> str:
    with app.connection_for_read() as broker:
        broker.ensure_connection(max_retries=1, timeout=1)
    return "answers"


async def _ask_channels() -> str:
    layer = channel_layers[DEFAULT_CHANNEL_LAYER]
    await layer.group_add("health", "health")
    await layer.group_discard("health", "health")
    return "answers"


def _ask_worker() -> str:
    global _worker_answered
    when, detail = _worker_answered
    if time.monotonic() - when < WORKER_TRUSTED_S:
        return detail
    replies = app.control.ping(timeout=1.2, limit=1)
    if not replies:
        raise NoWorker
    detail = ", ".join(name for reply in replies for name in reply)
    _worker_answered = (time.monotonic(), detail)
    return detail


class NoWorker(Exception):
    """No Celery worker answered."""
