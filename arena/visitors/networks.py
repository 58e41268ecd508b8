"""Where votes come from, as far as one may keep it: keyed digests of the address and of its network.

One person has many cookies and few networks, so votes are weighed and grouped by network and day. The key changes every
28 days and is destroyed settings.NETWORK_DAYS after its first: from then on nobody, whoever has the database, finds the
address of a digest, which still says which votes of those 28 days came from one place.
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
"""Of an IPv6 address: whoever has one has all addresses of its /64."""

Address = IPv4Address | IPv6Address | str


class Origin(NamedTuple):
    """Where something came from: 24 hexadecimal digits each; both empty where only the visitor counts."""

    address: str
    network: str


NOWHERE = Origin("", "")


def origin_of(address: Address) -> Origin:
    """Digests to keep with a vote: one or two queries. Those of one network are equal within a period, and so within
    every day (UTC)."""
    if is_exempt(address):
        return NOWHERE
    key = _key(period_of(timezone.now()))
    return Origin(*(_digest(key, kind, place) for kind, place in places(address).items()))


def is_exempt(address: Address) -> bool:
    """Of this machine, or of a network that settings.FREE_NETWORKS names."""
    if isinstance(address, str):
        return False
    return address.is_loopback or any(address in network for network in settings.FREE_NETWORKS)


def places(address: Address) -> dict[str, str]:
    """What is digested: "address" (of IPv6 the /64) and "network" (the /24 or /48), in this order."""
    if isinstance(address, str):  # a socket of another kind, or none: one place
        return {"address": address, "network": address}
    bits = {"address": ADDRESS_BITS[address.version], "network": NETWORK_BITS[address.version]}
    return {kind: str(ip_network((address, length), strict=False)) for kind, length in bits.items()}


def destroy_old_keys() -> int:
    """Of every period that began NETWORK_DAYS ago or earlier; answers how many there were."""
    now = timezone.now()
    last = min(period_of(now - timedelta(days=settings.NETWORK_DAYS)), period_of(now) - 1)
    return NetworkKey.objects.filter(period__lte=last).delete()[0]


def period_of(moment: datetime) -> int:
    return int(moment.timestamp()) // 86400 // PERIOD_DAYS


def _key(period: int) -> bytes:
    """Whoever needs it first makes it; of many at once, one does."""
    rows = NetworkKey.objects.filter(pk=period)
    row = row_or_none(rows)
    if row is None:
        made = NetworkKey(period=period, secret=secrets.token_hex(32))
        NetworkKey.objects.bulk_create([made], ignore_conflicts=True)
        row = rows.get()
    return bytes.fromhex(row.secret)


def _digest(key: bytes, kind: str, place: str) -> str:
    return hmac.digest(key, f"{kind} {place}".encode(), "sha256").hex()[:DIGITS]
