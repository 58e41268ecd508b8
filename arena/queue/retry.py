"""Retrying what failed because a server was busy or away. Other errors are raised at once."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

from arena.store import StoreUnavailable

log = logging.getLogger(__name__)

BUSY = (StoreUnavailable, OperationalError, InterfaceError)
"""Locked, restarting, cut off, or out of room. Other errors of the database or the store are about the request."""
RETRY_FOR_S = 45.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.25, 4.0
Answer = TypeVar("Answer")


def retry_while_busy(attempt: Callable[[], Answer]) -> Answer:
    """The answer of `attempt`, retried for up to RETRY_FOR_S while it raises one of BUSY. Then that is raised.

    Pauses double up to LONGEST_PAUSE_S, with a random factor so that not all callers retry at once. The attempt must be
    safe to repeat even if only its answer was lost, and must be outside any transaction.
    """
    deadline, pause = time.monotonic() + RETRY_FOR_S, FIRST_PAUSE_S
    while True:
        try:
            return attempt()
        except BUSY as error:
            wait = pause * random.uniform(0.5, 1.0)
            if time.monotonic() + wait > deadline:
                raise
            log.warning("%s: %s; trying again in %.1f s", type(error).__name__, error, wait)
        drop_broken_connection()
        time.sleep(wait)
        pause = min(LONGEST_PAUSE_S, 2 * pause)


def drop_broken_connection() -> None:
    """Close this thread's connection if it no longer works, so that the next query opens a new one."""
    if connection.connection is not None and not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
