"""Whether there is room on a disk, and how a process says that it found none."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
from pathlib import Path

NEEDED = 16 << 20
"""Bytes: the bundled store begins a new file of its journal, of 10 MB, whenever it starts."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
SAYS_NO_ROOM = re.compile(rb"No space left on device|Disk quota exceeded|database or disk is full|\bENOSPC\b")


def has_room(folder: Path, needed: int = NEEDED) -> bool:
    """Whether the folder's disk would take so many bytes more, for us: quotas count. Any other trouble is none of room.

    They are reserved for a moment, not written; the file has no name, and is gone whatever happens.
    """
    with contextlib.suppress(OSError):
        return _takes(folder, needed)
    return True


def _takes(folder: Path, needed: int) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            os.posix_fallocate(probe.fileno(), 0, needed)
    except OSError as error:
        if error.errno in NO_ROOM:
            return False
        raise
    return True
