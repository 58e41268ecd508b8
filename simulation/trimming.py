"""Giving memory back to the system."""

from __future__ import annotations

import contextlib
import ctypes
import gc


def trim() -> None:
    """Give back what was freed and the C library keeps: after opening or closing something large, that is much."""
    gc.collect()
    give_back()


def give_back() -> None:
    """Likewise without a search for cycles, which takes most of the time."""
    with contextlib.suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
