"""Detects a full disk: by a trial reservation, and by what processes log."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path

NEEDED = 16 << 20
"""Bytes: the bundled store creates a journal file of 10 MB whenever it starts."""
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
SAYS_NO_ROOM = re.compile(rb"No space left on device|Disk quota exceeded|database or disk is full|\bENOSPC\b")


def has_room(folder: Path, needed: int = NEEDED) -> bool:
    """Whether the folder's disk and our quota have this many bytes left. Errors of any other sort count as room.

    The bytes are reserved in an unnamed temporary file, not written.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            os.posix_fallocate(probe.fileno(), 0, needed)
    except OSError as error:
        return error.errno not in NO_ROOM
    return True
