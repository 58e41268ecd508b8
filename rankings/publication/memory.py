"""The memory of a process that publishes: what is freed goes back to the system."""

from __future__ import annotations

import ctypes
from functools import cache

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1
"""Of glibc's mallopt(3)."""
COLUMN_BYTES = 9 << 20
"""A column of nine million rows or more is given back as soon as it is freed; what is computed `tally.arrays.CHUNK`
rows at a time, 2 MB, is used again and again. By itself glibc raises this up to 32 MB."""
KEPT_BYTES = 64 << 20


@cache
def give_back() -> None:
    """Once per process. Without glibc, columns are given back later."""
    import pyarrow as pa  # which the web does not need

    pa.set_memory_pool(pa.system_memory_pool())  # others keep what they had
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(MMAP_THRESHOLD, COLUMN_BYTES)
        libc.mallopt(TRIM_THRESHOLD, KEPT_BYTES)
