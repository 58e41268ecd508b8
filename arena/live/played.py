"""The chunks of turns that are being played or shown, kept beside the channel layer for sockets that come late.

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
KEPT_S = 120  # after the last chunk, beyond what the clock of a turn takes
END = "end"


class Played(NamedTuple):
    """One chunk of one side; or, without a chunk, up to which number the side is shown."""

    side: str
    tries: int
    number: int
    chunk: bytes | None


def keep_chunks(turn_id: str, side: str, tries: int, first: int, chunks: list[bytes]) -> None:
    """Keep the chunks from number `first` on."""
    _keep(turn_id, {f"{side}:{tries}:{number}": chunk for number, chunk in enumerate(chunks, first)})


def keep_end(turn_id: str, side: str, tries: int, length: int) -> None:
    _keep(turn_id, {f"{side}:{tries}:{END}": str(length).encode()})


def played(turn_id: str) -> list[Played]:
    """What is kept of a turn, earlier tries first; nothing while the server is away."""
    try:
        kept = cast(dict[bytes, bytes], _client().hgetall(_key(turn_id)))
    except (redis.RedisError, OSError) as error:
        log.warning("The chunks of %s cannot be read: %r", turn_id, error)
        return []
    return sorted(_read(kept), key=lambda each: (each.tries, each.chunk is None, each.number))


def _read(kept: dict[bytes, bytes]) -> Iterator[Played]:
    for name, chunk in kept.items():
        side, tries, number = name.decode().split(":")
        if number == END:
            yield Played(side, int(tries), int(chunk), None)
        else:
            yield Played(side, int(tries), int(number), chunk)


def _keep(turn_id: str, fields: Mapping[str, bytes]) -> None:
    clock = release.buffer() + release.longest_of_any()
    try:
        with _client().pipeline(transaction=False) as both:
            both.hset(_key(turn_id), mapping=cast(Any, fields))
            both.expire(_key(turn_id), KEPT_S + math.ceil(clock.total_seconds()))
            both.execute()
    except (redis.RedisError, OSError) as error:
        log.warning("Chunks of %s were not kept for pages that come late: %r", turn_id, error)


def _key(turn_id: str) -> str:
    return f"{settings.PREFIX}played.{turn_id}"


def _client() -> redis.Redis:
    return _client_of(settings.CHANNEL_URL, os.getpid())


@lru_cache(maxsize=2)
def _client_of(url: str, process_id: int) -> redis.Redis:
    """One per process, for connections do not survive a fork."""
    return redis.Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)
