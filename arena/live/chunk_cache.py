"""The chunks of turns that are being played or shown, kept beside the channel layer for sockets that open late.

A page that is loaded in the middle of a turn is shown the same as any other, so that what it gets, and when, does not
reveal how quick the sides are. If chunks are lost here, only such pages miss them.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple, cast

import redis
from django.conf import settings

from arena.live import release

log = logging.getLogger(__name__)

TIMEOUT_S = 2.0
KEPT_S = 120  # after the last chunk, in addition to the longest clock of a turn
END = "end"


class CachedChunk(NamedTuple):
    """A chunk of one side. Without `chunk`, `number` is the last one up to which the side is shown."""

    side: str
    tries: int
    number: int
    chunk: bytes | None


def keep_chunks(turn_id: str, side: str, tries: int, first: int, chunks: list[bytes]) -> None:
    """Keep the chunks from number `first` on."""
    _keep(turn_id, {f"{side}:{tries}:{number}": chunk for number, chunk in enumerate(chunks, first)})


def keep_end(turn_id: str, side: str, tries: int, length: int) -> None:
    _keep(turn_id, {f"{side}:{tries}:{END}": str(length).encode()})


def cached_chunks(turn_id: str) -> list[CachedChunk]:
    """The chunks kept of a turn, earlier tries first. Empty while the server is down."""
    try:
        kept = cast(dict[bytes, bytes], client().hgetall(_key(turn_id)))
    except (redis.RedisError, OSError) as error:
        log.warning("The chunks of %s cannot be read: %r", turn_id, error)
        return []
    found = [_read(name.decode(), value) for name, value in kept.items()]
    return sorted(found, key=lambda each: (each.tries, each.chunk is None, each.number))


def _read(name: str, value: bytes) -> CachedChunk:
    side, tries, number = name.split(":")
    if number == END:
        return CachedChunk(side, int(tries), int(value), None)
    return CachedChunk(side, int(tries), int(number), value)


def _keep(turn_id: str, fields: Mapping[str, bytes]) -> None:
    clock = release.buffer() + release.longest_of_any()
    try:
        with client().pipeline(transaction=False) as pipeline:
            pipeline.hset(_key(turn_id), mapping=cast(Any, fields))
            pipeline.expire(_key(turn_id), KEPT_S + math.ceil(clock.total_seconds()))
            pipeline.execute()
    except (redis.RedisError, OSError) as error:
        log.warning("Chunks of %s were not kept for pages that open late: %r", turn_id, error)


def _key(turn_id: str) -> str:
    return f"{settings.PREFIX}played.{turn_id}"


def client() -> redis.Redis:
    """Of the channel layer's server."""
    return _client_of(settings.CHANNEL_URL, os.getpid())


@lru_cache(maxsize=2)
def _client_of(url: str, process_id: int) -> redis.Redis:
    """The client of a process: connections do not survive a fork."""
    return redis.Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)
