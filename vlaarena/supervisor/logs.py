"""Log rotation: the log of a part, with a few earlier files beside it."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from vlaarena import env

MOST_BYTES = int(env.number("ARENA_LOG_MB", 10.0) * 1_000_000)
EARLIER_KEPT = env.count("ARENA_LOG_FILES", 5)


def set_aside(log: Path, kept: int = EARLIER_KEPT) -> None:
    """Rotate: `web.log` becomes `web.log.1`, which becomes `.2`, and so on. The last of `kept` files is deleted."""
    for number in range(kept, 0, -1):
        earlier = log if number == 1 else log.with_name(f"{log.name}.{number - 1}")
        if earlier.exists():
            earlier.replace(log.with_name(f"{log.name}.{number}"))


class Log:
    """Appends to a rotated log. Use as a context manager.

    A file ends with a complete line, which may exceed `most_bytes`; a line of more than that length is split. What a
    full disk does not take is lost, and the log states the number of lost bytes as soon as it can.
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
        """Without room for the file, the log is discarded until the part is restarted."""
        try:
            return _opened(self._path)
        except OSError:
            return _opened(Path(os.devnull))

    def _cut(self, block: bytes) -> int:
        """How many bytes of the block go into this file: up to the first end of a line after which the file is full."""
        room = max(0, self._most - self._size)
        if room >= len(block):
            return len(block)
        whole_lines = block.find(b"\n", max(0, room - 1)) + 1
        return whole_lines or max(1, min(len(block), 2 * self._most - self._size))

    def _put(self, block: bytes) -> None:
        if self._lost and self._written(f"\n[{self._lost} bytes of this log found no room]\n".encode()):
            self._lost = 0
        self._lost += len(block) - (0 if self._lost else self._written(block))

    def _written(self, block: bytes) -> int:
        """Write, and return the number of bytes that the disk took."""
        done = 0
        try:
            while done < len(block):
                done += self._file.write(block[done:]) or 0
        except OSError:
            pass
        self._size += done
        return done

    def _begin_anew(self) -> None:
        """Rotate, or go on with this file if no new one can be created."""
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
    """An `opener` for files that only their owner can read."""
    return os.open(path, flags, 0o600)
