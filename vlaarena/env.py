"""Readers of environment variables. Each raises ImproperlyConfigured for an invalid value."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from ipaddress import IPv4Network, IPv6Network, ip_network

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str) -> str:
    return os.environ.get(name, default)


def choice(name: str, default: str, known: Sequence[str]) -> str:
    value = os.environ.get(name) or default
    if value not in known:
        raise ImproperlyConfigured(f"{name}={value!r} is unknown; known are {', '.join(known)}")
    return value


def flag(name: str, default: bool) -> bool:
    """`1 true yes on` or `0 false no off`, in any case."""
    raw = os.environ.get(name, str(default))
    value = raw.strip().lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off", ""}:
        return False
    raise ImproperlyConfigured(f"{name}={raw!r} is neither true (1, true, yes, on) nor false (0, false, no, off)")


def number(name: str, default: float, least: float = -math.inf) -> float:
    raw = os.environ.get(name, str(default))
    try:
        value = float(raw)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ImproperlyConfigured(f"{name}={raw!r} is not a number")
    if value < least:
        raise ImproperlyConfigured(f"{name}={raw!r}; expected at least {least:g}")
    return value


def count(name: str, default: int) -> int:
    """A whole number, at least 1."""
    value = number(name, default)
    if value < 1 or value != int(value):
        raise ImproperlyConfigured(f"{name}={value:g}; expected a whole number from 1")
    return int(value)


def moment(name: str) -> datetime | None:
    """A day or a moment in ISO's way, in UTC unless it says otherwise; None where it is empty."""
    raw = os.environ.get(name, "").strip()
    if not raw:
        return None
    try:
        value = datetime.fromisoformat(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={raw!r}; expected a day such as 2026-11-24") from None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def words(name: str, default: list[str]) -> list[str]:
    """The items of a comma-separated list, stripped."""
    raw = os.environ.get(name)
    return default if raw is None else [word.strip() for word in raw.split(",") if word.strip()]


def networks(name: str, default: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Comma-separated addresses and networks, such as `127.0.0.1,10.1.0.0/16`."""
    try:
        return tuple(ip_network(word) for word in words(name, default.split(",")) if word)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}; expected for example 127.0.0.1,10.1.0.0/16") from None


def disable_downloads() -> None:
    """Keep libraries from accessing the internet: nothing here needs it."""
    for name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "TRANSFORMERS_OFFLINE", "DO_NOT_TRACK"):
        os.environ.setdefault(name, "1")


UNITS = {"minute": 60, "hour": 3600, "day": 86400}
MOST_DIGITS = 9


def rates(name: str, default: str) -> tuple[tuple[int, int], ...]:
    """(count, seconds) of each rate in a comma-separated list such as `20/minute,200/hour`; empty means no limit."""
    return tuple(_rate(name, word) for word in words(name, default.split(",")))


def _rate(name: str, word: str) -> tuple[int, int]:
    count, _, unit = word.partition("/")
    if not count.isdecimal() or len(count) > MOST_DIGITS or int(count) < 1 or unit not in UNITS:
        raise ImproperlyConfigured(f"{name}: {word!r} is not a rate such as 20/minute, with {', '.join(UNITS)}")
    return int(count), UNITS[unit]
