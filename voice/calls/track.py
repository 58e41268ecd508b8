"""One side of a call while it is recorded: a file that has no name, so that a call takes little memory."""

from __future__ import annotations

import tempfile
import weakref
from typing import Self


class Track:
    """Audio (s16le) to which more is added with `+=`. `bytes` reads all of it. The file goes with the object."""

    def __init__(self, audio: bytes = b"") -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below, with the track
        self._length = 0
        weakref.finalize(self, self._file.close)
        self += audio

    def __iadd__(self, audio: bytes) -> Self:
        self._file.write(audio)
        self._length += len(audio)
        return self

    def __len__(self) -> int:
        return self._length

    def __bytes__(self) -> bytes:
        self._file.seek(0)
        audio = self._file.read()
        self._file.seek(0, 2)
        return audio
