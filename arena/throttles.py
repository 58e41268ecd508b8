"""How often one visitor, and one address, may vote and send instructions (settings.RATE_LIMITS).

Cookies are cheap and addresses are shared, hence both: a visitor has the tighter limits, an address the wider ones.
Nothing of it is stored but counters that outlive their window by one window.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from arena.errors import TooMany
from arena.visitors import visitor_of

NETWORK_BITS = 64
"""Of an IPv6 address: whoever has one has all addresses of its network."""


class Rate(NamedTuple):
    """At most `times` within any span of `seconds`."""

    times: int
    seconds: int


@dataclass(frozen=True)
class Window:
    """A count over the last `rate.seconds`, told from two fixed windows: this one's, and the fading rest of the one
    before, as if its events had come evenly. Two counters do what a list of all times would do."""

    key: str
    rate: Rate

    def spend(self, now: float) -> float:
        """Count one more and answer 0; or count nothing and answer in how many seconds there is room again."""
        number, elapsed = divmod(now, self.rate.seconds)
        fading = 1.0 - elapsed / self.rate.seconds
        before = int(cache.get(self._counter(number - 1), 0))
        used = self._add(number, 1)
        if used + before * fading <= self.rate.times:
            return 0.0
        self._add(number, -1)
        return self._wait(used, before, elapsed)

    def undo(self, now: float) -> None:
        self._add(now // self.rate.seconds, -1)

    def _wait(self, used: int, before: int, elapsed: float) -> float:
        """Seconds until `used`, this one included, fits: as `before` fades, or in the next window as `used` does."""
        span = self.rate.seconds
        if used <= self.rate.times:
            return span * (1.0 - (self.rate.times - used) / before) - elapsed
        return span - elapsed + span * max(0.0, 1.0 - (self.rate.times - 1) / (used - 1))

    def _add(self, number: float, amount: int) -> int:
        counter = self._counter(number)
        cache.add(counter, 0, timeout=2 * self.rate.seconds)
        return int(cache.incr(counter, amount))

    def _counter(self, number: float) -> str:
        return f"arena:rate:{self.key}:{self.rate.seconds}:{int(number)}"


def spend(action: str, callers: dict[str, str], now: float | None = None) -> None:
    """Count one `action` ("votes", "turns") of every caller ("visitor", "address" -> who); raises TooMany.

    A refused attempt is not counted, so that waiting as long as was said is enough.
    """
    moment = time.time() if now is None else now
    spent: list[Window] = []
    for kind, rate, window in _windows(action, callers):
        wait = window.spend(moment)
        if wait > 0.0:
            for earlier in spent:
                earlier.undo(moment)
            raise TooMany(action, kind, rate.times, rate.seconds, math.ceil(wait))
        spent.append(window)


def caller_of(request: HttpRequest) -> str:
    """Who asks, as far as the address tells: a keyed digest, from which nobody finds the address."""
    return _nameless(address_of(request))


def _nameless(who: str) -> str:
    return salted_hmac("arena.rate", who).hexdigest()[:24]


def _windows(action: str, callers: dict[str, str]) -> Iterator[tuple[str, Rate, Window]]:
    for kind, who in callers.items():
        name = _nameless(who)
        for rate in (Rate(*each) for each in settings.RATE_LIMITS.get(action, {}).get(kind, ())):
            yield kind, rate, Window(f"{action}:{kind}:{name}", rate)


def address_of(request: HttpRequest) -> str:
    """Where a request comes from, as far as it can be trusted: settings.TRUSTED_PROXIES says how many proxies of our
    own wrote into X-Forwarded-For. An IPv6 address stands for its network."""
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    proxies = int(settings.TRUSTED_PROXIES)
    text = forwarded[-min(proxies, len(forwarded))] if proxies and forwarded else request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(text)
    except ValueError:
        return str(text)
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or f"{IPv6Address(int(address) >> NETWORK_BITS << NETWORK_BITS)}/{NETWORK_BITS}")
    return str(address)


class Limited(BaseThrottle):
    """Refuses with 429 what `settings.RATE_LIMITS` has no room for."""

    action = ""

    def allow_request(self, request: Request, view: APIView) -> bool:
        callers = {"address": address_of(request._request)}
        if visitor := visitor_of(request._request):
            callers["visitor"] = visitor
        spend(self.action, callers)
        return True


class VotesLimited(Limited):
    action = "votes"


class TurnsLimited(Limited):
    action = "turns"


class CancelsLimited(Limited):
    action = "cancels"


class AggregationsLimited(Limited):
    """Who may aggregate has no visitor's cookie: only the address counts."""

    action = "aggregations"


class SessionsLimited(Limited):
    """A visitor without a cookie gets one with the session: only the address counts those."""

    action = "sessions"
