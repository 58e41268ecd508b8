"""Counters with an expiry in the cache that all web processes share, in one round trip for all of them.

Django's cache would need four round trips to raise one counter and read another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import redis
from django.conf import settings
from django.core.cache import cache


class Counted(NamedTuple):
    """The key of a counter to raise, which expires after so many seconds, and of another that is only read."""

    raised: str
    read: str
    seconds: int


def count(counters: Sequence[Counted], times: int = 1) -> list[tuple[int, int]]:
    """Add `times`, which may be negative, to each counter. Returns its new value and that of the other one (0 if there
    is none)."""
    if not settings.CACHE_URL:
        return [(_raise(each, times), int(cache.get(each.read, 0))) for each in counters]
    with _redis(settings.CACHE_URL).pipeline(transaction=False) as pipeline:
        for each in counters:
            pipeline.incr(cache.make_key(each.raised), times)
            pipeline.expire(cache.make_key(each.raised), each.seconds)
            pipeline.get(cache.make_key(each.read))
        answers = pipeline.execute()
    return [(int(used), int(other or 0)) for used, other in zip(answers[::3], answers[2::3], strict=True)]


def _raise(counter: Counted, times: int) -> int:
    cache.add(counter.raised, 0, timeout=counter.seconds)
    return int(cache.incr(counter.raised, times))


@lru_cache
def _redis(url: str) -> redis.Redis:
    """The client of this process. All threads share its pool of connections."""
    return redis.Redis.from_url(url)
