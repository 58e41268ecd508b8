"""The rows of turns that are being played or shown, kept beside the channel layer for sockets that come late.

A page that is loaded in the middle is shown the same as any other, whatever has become of the two sides by then: what
it gets, and when, must not tell how quick they are. What is lost here is missed by such pages alone.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

import redis
from django.conf import settings

from arena.live import release

log = logging.getLogger(__name__)

TIMEOUT_S = 2.0
KEPT_S = 120  # after the last row, beyond what the clock of a turn takes
END = "end"


class Played(NamedTuple):
    """One step of one side: its packed rows; or, without rows, up to which step the side is shown."""

    side: str
    attempt: int
    step: int
    rows: bytes | None


def keep_rows(turn_id: str, side: str, attempt: int, from_step: int, steps: list[bytes]) -> None:
    """Keep the packed rows of the steps from `from_step` on."""
    _keep(turn_id, {f"{side}:{attempt}:{step}": rows for step, rows in enumerate(steps, from_step)})


def keep_end(turn_id: str, side: str, attempt: int, steps: int) -> None:
    _keep(turn_id, {f"{side}:{attempt}:{END}": str(steps).encode()})


def played(turn_id: str) -> list[Played]:
    """What is kept of a turn, earlier attempts first; nothing while the server is away."""
    try:
        kept = cast(dict[bytes, bytes], _client().hgetall(_key(turn_id)))
    except (redis.RedisError, OSError) as error:
        log.warning("The rows of %s cannot be read: %r", turn_id, error)
        return []
    return sorted(_read(kept), key=lambda each: (each.attempt, each.rows is None, each.step))


def _read(kept: dict[bytes, bytes]) -> Iterator[Played]:
    for name, rows in kept.items():
        side, attempt, step = name.decode().split(":")
        if step == END:
            yield Played(side, int(attempt), int(rows), None)
        else:
            yield Played(side, int(attempt), int(step), rows)


def _keep(turn_id: str, fields: Mapping[str, bytes]) -> None:
    clock = release.buffer() + release.longest()
    try:
        with _client().pipeline(transaction=False) as both:
            both.hset(_key(turn_id), mapping=cast(Any, fields))
            both.expire(_key(turn_id), KEPT_S + math.ceil(clock.total_seconds()))
            both.execute()
    except (redis.RedisError, OSError) as error:
        log.warning("Rows of %s were not kept for pages that come late: %r", turn_id, error)


def _key(turn_id: str) -> str:
    return f"{settings.PREFIX}played.{turn_id}"


def _client() -> redis.Redis:
    return _client_of(settings.CHANNEL_URL, os.getpid())


@lru_cache(maxsize=2)
def _client_of(url: str, process_id: int) -> redis.Redis:
    """One per process, for connections do not survive a fork."""
    return redis.Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)
