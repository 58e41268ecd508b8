"""Where the processes of an arena count together, so that each web process can tell of all
(decision: observability)."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it


@contextlib.contextmanager
def counted_together(web_processes: int) -> Iterator[dict[str, str]]:
    """What the children's environment needs for it; nothing where one web process tells all.

    In memory where the system has such a place: the files are mapped, and on a full disk a process that writes to one
    would be killed.
    """
    if web_processes == 1:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="vla-arena-counts-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield {"PROMETHEUS_MULTIPROC_DIR": folder}
