"""The chunks of turns that are being played or shown, kept beside the channel layer for sockets that open late.

A page that is loaded in the middle of a turn is shown the same as any other, so that what it gets, and when, does not
reveal how quick the sides are. If chunks are lost here, only such pages miss them.
"""

from __future__ import annotations

import logging
import math
import os
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple, cast

import redis
from django.conf import settings

from arena.live import release

log = logging.getLogger(__name__)

TIMEOUT_S = 2.0
KEPT_S = 120  # after the last chunk, in addition to the longest clock of a turn
END = "end"


class Passed(NamedTuple):
    """Chunks of one side from number `first` on; 0 is the start. Without `chunks`, the side has no more, and is shown
    up to number `first`."""

    battle_id: str
    turn_id: str
    side: str
    tries: int
    first: int
    chunks: list[bytes] | None


def keep(pipeline: Any, passed: Iterable[Passed]) -> None:
    """Add to the pipeline that these chunks are kept."""
    fields: dict[str, dict[str, bytes]] = defaultdict(dict)
    for each in passed:
        fields[each.turn_id].update(_fields(each))
    kept_s = KEPT_S + math.ceil((release.buffer() + release.longest_of_any()).total_seconds())
    for turn_id, of_turn in fields.items():
        pipeline.hset(_key(turn_id), mapping=of_turn)
        pipeline.expire(_key(turn_id), kept_s)


def _fields(passed: Passed) -> dict[str, bytes]:
    about = f"{passed.side}:{passed.tries}"
    if passed.chunks is None:
        return {f"{about}:{END}": str(passed.first).encode()}
    return {f"{about}:{number}": chunk for number, chunk in enumerate(passed.chunks, passed.first)}


def kept_of(battle_id: str, turn_id: str) -> list[Passed]:
    """What is kept of a turn, earlier tries first. Empty while the server is down."""
    try:
        kept = cast(dict[bytes, bytes], client().hgetall(_key(turn_id)))
    except (redis.RedisError, OSError) as error:
        log.warning("The chunks of %s cannot be read: %r", turn_id, error)
        return []
    found = [_read(battle_id, turn_id, name.decode(), value) for name, value in kept.items()]
    return sorted(found, key=lambda each: (each.tries, each.chunks is None, each.first))


def _read(battle_id: str, turn_id: str, name: str, value: bytes) -> Passed:
    side, tries, number = name.split(":")
    if number == END:
        return Passed(battle_id, turn_id, side, int(tries), int(value), None)
    return Passed(battle_id, turn_id, side, int(tries), int(number), [value])


def _key(turn_id: str) -> str:
    return f"{settings.PREFIX}played.{turn_id}"


def client() -> redis.Redis:
    """Of the channel layer's server."""
    return _client_of(settings.CHANNEL_URL, os.getpid())


@lru_cache(maxsize=2)
def _client_of(url: str, process_id: int) -> redis.Redis:
    """The client of a process: connections do not survive a fork."""
    return redis.Redis.from_url(url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S)
