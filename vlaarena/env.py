"""Reading settings from the environment, loud on nonsense."""

from __future__ import annotations

import os

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str) -> str:
    return os.environ.get(name, default)


def flag(name: str, default: bool) -> bool:
    """`1 true yes on` or `0 false no off`, in any case."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    value = raw.strip().lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off", ""}:
        return False
    raise ImproperlyConfigured(f"{name}={raw!r} is neither true (1, true, yes, on) nor false (0, false, no, off)")


def number(name: str, default: float) -> float:
    raw = os.environ.get(name)
    if raw is None:
        return default
    try:
        return float(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={raw!r} is not a number") from None


def words(name: str, default: list[str]) -> list[str]:
    """A comma-separated list."""
    raw = os.environ.get(name)
    return default if raw is None else [word.strip() for word in raw.split(",") if word.strip()]


UNITS = {"minute": 60, "hour": 3600, "day": 86400}


def rates(name: str, default: str) -> tuple[tuple[int, int], ...]:
    """(how many, in how many seconds) of a comma-separated list such as `20/minute,200/hour`; empty: no limit."""
    return tuple(_rate(name, word) for word in words(name, default.split(",")))


def _rate(name: str, word: str) -> tuple[int, int]:
    count, _, unit = word.partition("/")
    if not count.isdecimal() or int(count) < 1 or unit not in UNITS:
        raise ImproperlyConfigured(f"{name}: {word!r} is no rate; expected such as 20/minute, with {', '.join(UNITS)}")
    return int(count), UNITS[unit]
