"""What `make load` has to show, and when it starts so that a full hour lies in what it measures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

BEFORE_HOUR_S, AFTER_HOUR_S = 30.0, 90.0
"""Measured at least so long before a full hour, and after it: then the boards are published."""
SHARES = {"text": "ask language models", "voice": "call voice agents", "worms": "read WormArena"}
"""Kinds of arena, and what their visitors do; all others play with robots."""
TROUBLE = re.compile(r"[\d-]+ [\d:,]+ (ERROR|CRITICAL) ")
LONGEST_MS = 500
"""No call may take longer, in a run across a full hour."""


def until_the_start(now: datetime, ramp_s: float, measured_s: float) -> float:
    """Seconds to wait before the ramp, so that a full hour lies within what is measured, as early as possible.

    Raises ValueError where the measured time is too short for that.
    """
    if measured_s < BEFORE_HOUR_S + AFTER_HOUR_S:
        least = (BEFORE_HOUR_S + AFTER_HOUR_S) / 60
        raise ValueError(f"{measured_s / 60:g} minutes; expected at least {least:g} across a full hour, or --any-time")
    to_hour = 3600.0 - (60 * now.minute + now.second + now.microsecond / 1e6)
    earliest, latest = to_hour - ramp_s - measured_s + AFTER_HOUR_S, to_hour - ramp_s - BEFORE_HOUR_S
    hours = max(0, math.ceil(-latest / 3600.0))
    return max(0.0, earliest + 3600.0 * hours)


def published(lines: Iterable[str]) -> list[str]:
    """What a worker's log says of each publication: how long it waited for the rankings' lock, held it and worked."""
    return re.findall(r"Published: (waited \d+ ms .*? worked \d+ ms)", "\n".join(lines))


def troubles(lines: Iterable[str]) -> list[str]:
    """The lines of a log that tell of an error."""
    return [line.strip() for line in lines if TROUBLE.match(line)]


def missed(found: dict[str, Any], rate: float, *, across_an_hour: bool) -> list[str]:
    """The targets that a run does not meet."""
    whole = found["endpoints"][0]
    targets = {
        "p95 under 200 ms": whole["p95_ms"] >= 200,
        "no error": bool(found["errors"]),
        "no error in the logs": bool(found["troubles"]),
        f"{rate:g} requests/s": found["per_s"] < 0.95 * rate,
        f"no call over {LONGEST_MS} ms across a full hour": across_an_hour and whole["max_ms"] > LONGEST_MS,
    }
    return [what for what, bad in targets.items() if bad]
