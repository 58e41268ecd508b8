"""How often one visitor, and one address, may vote and send instructions (settings.RATE_LIMITS).

Cookies are cheap and addresses are shared, so a visitor has tight limits and an address wide ones. Only counters are
stored, and each outlives its window by one window.
"""

from __future__ import annotations

import math
import time
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
from arena.visitors.networks import NO_DIGESTS, CallerDigests, is_exempt, prefixes_of


class Window(NamedTuple):
    """A sliding window: at most `limit` events within any span of `seconds`. The count is estimated from two fixed
    windows: the present one, and the remaining share of the one before, as if its events had come evenly."""

    key: str
    limit: int
    seconds: int

    def counted(self, now: float) -> Counted:
        """The counters of the present window and of the one before."""
        number = int(now // self.seconds)
        this, before = (f"arena:rate:{self.key}:{self.seconds}:{each}" for each in (number, number - 1))
        return Counted(this, before, 2 * self.seconds)

    def wait(self, now: float, used: int, before: int, times: int = 1) -> float:
        """In how many seconds there is room for `times` events, which have been counted. 0 if there is room now.

        `used`: the count of this window, these included. `before`: the count of the window before.
        """
        span = self.seconds
        elapsed = now % span
        if used + before * (1.0 - elapsed / span) <= self.limit:
            return 0.0
        if used <= self.limit:  # there is room in this window as `before` fades, else in the next one
            return span * (1.0 - (self.limit - used) / before) - elapsed
        earlier = max(1, used - times)
        return span - elapsed + span * min(1.0, max(0.0, 1.0 - (self.limit - times) / earlier))


def spend(action: str, callers: dict[str, str], now: float | None = None, times: int = 1, already: int = 0) -> None:
    """Count `times` of an `action` ("votes", "turns") for every caller ("visitor", "address" -> its name).

    Raises TooMany, and then takes back this count and the `already` counted events of the same request, so that
    waiting as long as the error says is enough.
    """
    moment = time.time() if now is None else now
    windows = [(kind, window) for kind, who in callers.items() for window in _windows(action, kind, who)]
    counted = [window.counted(moment) for _, window in windows]
    for (kind, window), (used, before) in zip(windows, count(counted, times), strict=True):
        wait = window.wait(moment, used, before, times + already)
        if wait > 0.0:
            count(counted, -(times + already))
            raise TooMany(action, kind, window.limit, window.seconds, math.ceil(wait))


def caller_of(request: HttpRequest) -> CallerDigests:
    """Digests of the address that sends a turn, kept until the turn settles. Those of votes have another key
    (`arena.visitors.networks`)."""
    address = ip_of(request)
    return NO_DIGESTS if is_exempt(address) else CallerDigests(*map(_digest, prefixes_of(address).values()))


def _digest(who: str) -> str:
    return salted_hmac("arena.rate", who).hexdigest()[:24]


def _windows(action: str, kind: str, who: str) -> list[Window]:
    key = f"{action}:{kind}:{_digest(who)}"
    return [Window(key, *rate) for rate in settings.RATE_LIMITS.get(action, {}).get(kind, ())]


def address_of(request: HttpRequest) -> str:
    """The address of `ip_of` for limits: an IPv6 address stands for its /64."""
    return prefixes_of(ip_of(request))["address"].removesuffix("/32")


def ip_of(request: HttpRequest) -> IPv4Address | IPv6Address | str:
    """The address of a request: of X-Forwarded-For the entry that the first of settings.TRUSTED_PROXIES proxies wrote.

    A text if it is no IP address. An IPv4-mapped IPv6 address is that IPv4 address.
    """
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if part.strip()]
    proxies = int(settings.TRUSTED_PROXIES)
    text = forwarded[-min(proxies, len(forwarded))] if proxies and forwarded else request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(text)
    except ValueError:
        return str(text)
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


class Limited(BaseThrottle):
    """Refuses with 429 what exceeds the limits of the view's `throttle_scope` in `settings.RATE_LIMITS`.

    A caller without a visitor's cookie is counted by the address alone.
    """

    def allow_request(self, request: Request, view: APIView) -> bool:
        spent_at = time.time()
        spend(view.throttle_scope, _callers(request), spent_at)  # type: ignore[attr-defined]
        view.spent_at = spent_at  # type: ignore[attr-defined] # for `spend_more`
        return True


def spend_more(action: str, request: Request, spent_at: float, times: int) -> None:
    """Count `times` more for a request that was counted once at `spent_at`. Raises TooMany, and then counts none."""
    if times:
        spend(action, _callers(request), spent_at, times, already=1)


def callers_of(request: HttpRequest) -> dict[str, str]:
    """Who is counted for a request: its address, and its visitor if there is a cookie."""
    visitor = visitor_of(request)
    return {"address": address_of(request), **({"visitor": visitor} if visitor else {})}


def _callers(request: Request) -> dict[str, str]:
    return callers_of(request._request)


class CrowdsChallenged(BaseThrottle):
    """Refuses with 428 a call without an answer from a network with many votes today (`arena.visitors.challenges`)."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        challenges.check(ip_of(request._request), request.headers.get(challenges.HEADER, ""))
        return True
