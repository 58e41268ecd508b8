"""How often one visitor, and one address, may vote and send instructions (settings.RATE_LIMITS).

Cookies are cheap and addresses are shared, hence both: a visitor has the tighter limits, an address the wider ones.
Nothing of it is stored but counters that outlive their window by one window.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from arena.errors import TooMany
from arena.visitors import challenges
from arena.visitors.cookies import visitor_of
from arena.visitors.counters import Counted, count
from arena.visitors.networks import NOWHERE, Origin, is_exempt, places

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

    def counted(self, now: float) -> Counted:
        """The counter of now, and that of the window before."""
        number = int(now // self.rate.seconds)
        return Counted(self._counter(number), self._counter(number - 1), 2 * self.rate.seconds)

    def wait(self, now: float, used: int, before: int, times: int = 1) -> float:
        """In how many seconds there is room for so many that have been counted; 0 where there is. `used`: of this
        window, these included; `before`: of the window before."""
        span = self.rate.seconds
        elapsed = now % span
        if used + before * (1.0 - elapsed / span) <= self.rate.times:
            return 0.0
        if used <= self.rate.times:  # it fits as `before` fades, else in the next window as `used` does
            return span * (1.0 - (self.rate.times - used) / before) - elapsed
        earlier = max(1, used - times)
        return span - elapsed + span * min(1.0, max(0.0, 1.0 - (self.rate.times - times) / earlier))

    def _counter(self, number: int) -> str:
        return f"arena:rate:{self.key}:{self.rate.seconds}:{number}"


def spend(action: str, callers: dict[str, str], now: float | None = None, times: int = 1, already: int = 0) -> None:
    """Count so many of an `action` ("votes", "turns") of every caller ("visitor", "address" -> who); raises TooMany.

    A refused attempt is not counted, so that waiting as long as was said is enough; nor are the ones that were counted
    of it `already`, in this moment.
    """
    moment = time.time() if now is None else now
    windows = list(_windows(action, callers))
    counted = [window.counted(moment) for _, _, window in windows]
    for (kind, rate, window), (used, before) in zip(windows, count(counted, times), strict=True):
        wait = window.wait(moment, used, before, times + already)
        if wait > 0.0:
            count(counted, -(times + already))
            raise TooMany(action, kind, rate.times, rate.seconds, math.ceil(wait))


def caller_of(request: HttpRequest) -> Origin:
    """Who sends a turn, as far as the address tells: keyed digests, kept until the turn settles. Those of votes have
    another key (`arena.visitors.networks`)."""
    address = ip_of(request)
    return NOWHERE if is_exempt(address) else Origin(*map(_nameless, places(address).values()))


def _nameless(who: str) -> str:
    return salted_hmac("arena.rate", who).hexdigest()[:24]


def _windows(action: str, callers: dict[str, str]) -> Iterator[tuple[str, Rate, Window]]:
    for kind, who in callers.items():
        name = _nameless(who)
        for rate in (Rate(*each) for each in settings.RATE_LIMITS.get(action, {}).get(kind, ())):
            yield kind, rate, Window(f"{action}:{kind}:{name}", rate)


def address_of(request: HttpRequest) -> str:
    """The address of `ip_of`, as limits know it: an IPv6 address stands for its network."""
    address = ip_of(request)
    if isinstance(address, IPv6Address):
        return f"{IPv6Address(int(address) >> NETWORK_BITS << NETWORK_BITS)}/{NETWORK_BITS}"
    return str(address)


def ip_of(request: HttpRequest) -> IPv4Address | IPv6Address | str:
    """Where a request comes from, as far as it can be trusted: settings.TRUSTED_PROXIES says how many proxies of our
    own wrote into X-Forwarded-For. Text where it is no address; an IPv4 address within IPv6 is that IPv4 address."""
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    proxies = int(settings.TRUSTED_PROXIES)
    text = forwarded[-min(proxies, len(forwarded))] if proxies and forwarded else request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(text)
    except ValueError:
        return str(text)
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


class Limited(BaseThrottle):
    """Refuses with 429 what `settings.RATE_LIMITS` has no room for."""

    action = ""

    def allow_request(self, request: Request, view: APIView) -> bool:
        spent_at = time.time()
        spend(self.action, _callers(request), spent_at)
        view.spent_at = spent_at  # type: ignore[attr-defined] # for `spend_more`
        return True


def spend_more(action: str, request: Request, spent_at: float, times: int) -> None:
    """Count so many more of a request of which one was counted at `spent_at`; raises TooMany, and then counts none."""
    if times:
        spend(action, _callers(request), spent_at, times, already=1)


def _callers(request: Request) -> dict[str, str]:
    visitor = visitor_of(request._request)
    return {"address": address_of(request._request), **({"visitor": visitor} if visitor else {})}


class CrowdsChallenged(BaseThrottle):
    """Refuses with 428 what a network with many votes today sends without an answer (`arena.visitors.challenges`)."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        challenges.check(ip_of(request._request), request.headers.get(challenges.HEADER, ""))
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
