"""Counters that forget, in the cache that all web processes share. Every vote and every turn asks: one round trip.

Django's cache asks Redis four times to raise one counter and read another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache as remembered
from typing import NamedTuple

import redis
from django.conf import settings
from django.core.cache import cache


class Counted(NamedTuple):
    """What to raise, and to forget after so many seconds; and another that is only read."""

    raised: str
    read: str
    seconds: int


def count(counters: Sequence[Counted], times: int = 1) -> list[tuple[int, int]]:
    """Raise each by `times`, or lower it where that is negative; answers for each what it is now, and what the other
    one is (0 where there is none)."""
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


@remembered
def _redis(url: str) -> redis.Redis:
    """One pool of connections for all threads."""
    return redis.Redis.from_url(url)
