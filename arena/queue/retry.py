"""Trying again what failed because a server was busy or away. What can never work fails at once, with its reason."""

from __future__ import annotations

import itertools
import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

from arena.store import StoreUnavailable

log = logging.getLogger(__name__)

BUSY = (StoreUnavailable, OperationalError, InterfaceError)
"""Locked, restarting, cut off, out of room. Other errors of the database or the store are about what was said to it."""
PATIENCE_S = 45.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 4.0
Answer = TypeVar("Answer")


def patiently(
    attempt: Callable[[], Answer],
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """What `attempt` answers, tried again for up to PATIENCE_S while it raises one of BUSY; then that is raised.

    Pauses double up to LONGEST_PAUSE_S, each shortened by chance so that not all come back at once. The attempt must be
    safe to repeat even where only its answer was lost, and be outside any transaction.
    """
    deadline = clock() + PATIENCE_S
    for number in itertools.count():
        try:
            return attempt()
        except BUSY as error:
            pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**number) * random.uniform(0.5, 1.0)
            if clock() + pause > deadline:
                raise
            log.warning("%s: %s; trying again in %.1f s", type(error).__name__, error, pause)
        drop_broken_connection()
        sleep(pause)
    raise AssertionError("counting never ends")


def drop_broken_connection() -> None:
    """Let the next query connect anew where this thread's connection no longer works: nothing else would see to it."""
    if connection.connection is not None and not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
