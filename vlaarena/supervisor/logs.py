"""The log of a part: a file that is set aside when it is large, with a few earlier ones beside it."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from vlaarena import env

MOST_BYTES = int(env.number("ARENA_LOG_MB", 10.0) * 1_000_000)
EARLIER_KEPT = env.count("ARENA_LOG_FILES", 5)


def set_aside(log: Path, kept: int = EARLIER_KEPT) -> None:
    """Make place for a new log: `web.log` becomes `web.log.1`, that one `.2`; the last that is kept goes."""
    for number in range(kept, 0, -1):
        earlier = log if number == 1 else log.with_name(f"{log.name}.{number - 1}")
        if earlier.exists():
            earlier.replace(log.with_name(f"{log.name}.{number}"))


class Log:
    """Appends to a log. Use as a context manager.

    A file ends with a whole line, and may be longer than `most_bytes` by that line; only what never ends a line is
    parted elsewhere. What a full disk does not take is lost, and the log says how much it was as soon as it can.
    """

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES, kept: int = EARLIER_KEPT) -> None:
        self._path = path
        self._most, self._kept = most_bytes, kept
        self._lost = 0
        self._file = self._first()
        self._size = os.fstat(self._file.fileno()).st_size

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def write(self, block: bytes) -> None:
        while block:
            cut = self._cut(block)
            self._put(block[:cut])
            if self._size >= 2 * self._most or (self._size >= self._most and block[cut - 1 : cut] == b"\n"):
                self._begin_anew()
            block = block[cut:]

    def _first(self) -> BinaryIO:
        """Where it cannot be made, on a full disk say, nothing is kept until the part is started again."""
        try:
            return _opened(self._path)
        except OSError:
            return _opened(Path(os.devnull))

    def _cut(self, block: bytes) -> int:
        """How much of the block belongs into this file: up to the first end of a line at which the file is full."""
        room = max(0, self._most - self._size)
        if room >= len(block):
            return len(block)
        whole_lines = block.find(b"\n", max(0, room - 1)) + 1
        return whole_lines or max(1, min(len(block), 2 * self._most - self._size))

    def _put(self, block: bytes) -> None:
        if self._lost and self._written(f"\n[{self._lost} bytes of this log found no room]\n".encode()):
            self._lost = 0
        if not self._lost:
            self._lost = len(block) - self._written(block)
        else:
            self._lost += len(block)

    def _written(self, block: bytes) -> int:
        """How many of the bytes the disk took."""
        done = 0
        try:
            while done < len(block):
                done += self._file.write(block[done:]) or 0
        except OSError:
            pass
        self._size += done
        return done

    def _begin_anew(self) -> None:
        """Where no new file can be made, this one goes on."""
        draft = self._path.with_name(f"{self._path.name}.new")
        try:
            fresh = _opened(draft)
            set_aside(self._path, self._kept)
            draft.replace(self._path)
        except OSError:
            return
        self._file.close()
        self._file, self._size = fresh, 0


def _opened(path: Path) -> BinaryIO:
    return open(path, "ab", buffering=0, opener=private)


def private(path: str, flags: int) -> int:
    """How to open a file that is for its owner alone."""
    return os.open(path, flags, 0o600)
