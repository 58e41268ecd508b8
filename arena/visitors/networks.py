"""Keyed digests of the address and the network of a vote.

One person has many cookies and few networks, so votes are weighed and grouped by network and day. The key changes every
28 days, and is destroyed settings.NETWORK_DAYS after its first day: from then on the address of a digest cannot be
found, not even with the database. Digests still show which votes of those 28 days came from one network.
"""

from __future__ import annotations

import hmac
import secrets
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone

from arena.models import NetworkKey, row_or_none

PERIOD_DAYS = 28
DIGITS = 24
NETWORK_BITS = {4: 24, 6: 48}
ADDRESS_BITS = {4: 32, 6: 64}
"""An IPv6 address stands for its /64, all of which one host may use."""

Address = IPv4Address | IPv6Address | str


class CallerDigests(NamedTuple):
    """Digests of 24 hexadecimal digits each. Both are empty for an exempt address."""

    address: str
    network: str


NO_DIGESTS = CallerDigests("", "")


def digests_of(address: Address) -> CallerDigests:
    """Digests to keep with a vote, in one or two queries. Those of one network are equal within a period, and so within
    a day (UTC)."""
    if is_exempt(address):
        return NO_DIGESTS
    key = _key(period_of(timezone.now()))
    texts = (f"{kind} {prefix}".encode() for kind, prefix in prefixes_of(address).items())
    return CallerDigests(*(hmac.digest(key, text, "sha256").hex()[:DIGITS] for text in texts))


def is_exempt(address: Address) -> bool:
    """Whether the address is of this machine, or of a network in settings.FREE_NETWORKS."""
    if isinstance(address, str):
        return False
    return address.is_loopback or any(address in network for network in settings.FREE_NETWORKS)


def prefixes_of(address: Address) -> dict[str, str]:
    """The prefixes "address" (of IPv6 the /64) and "network" (the /24 or /48), in this order."""
    if isinstance(address, str):  # no IP socket
        return {"address": address, "network": address}
    bits = {"address": ADDRESS_BITS[address.version], "network": NETWORK_BITS[address.version]}
    return {kind: str(ip_network((address, length), strict=False)) for kind, length in bits.items()}


def destroy_old_keys() -> int:
    """Destroy the keys of periods that began NETWORK_DAYS ago or earlier. Returns how many there were."""
    now = timezone.now()
    last = min(period_of(now - timedelta(days=settings.NETWORK_DAYS)), period_of(now) - 1)
    return NetworkKey.objects.filter(period__lte=last).delete()[0]


def period_of(moment: datetime) -> int:
    return int(moment.timestamp()) // 86400 // PERIOD_DAYS


def _key(period: int) -> bytes:
    """The key of a period, made when it is first needed. Of several callers at once, one makes it."""
    rows = NetworkKey.objects.filter(pk=period)
    row = row_or_none(rows)
    if row is None:
        new = NetworkKey(period=period, secret=secrets.token_hex(32))
        NetworkKey.objects.bulk_create([new], ignore_conflicts=True)
        row = rows.get()
    return bytes.fromhex(row.secret)
