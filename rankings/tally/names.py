"""Many texts in one block of bytes: a million names take 20 MB, and 70 as texts of Python's own. No Django."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np

from rankings.tally.arrays import Narrow

AT_ONCE = 10_000
"""Names whose places are numbers of Python's own at a time."""


class Names(Sequence[str]):
    """Texts that cannot be changed. A part of them is a tuple, and they equal a tuple of the same texts."""

    def __init__(self, block: memoryview, ends: Narrow) -> None:
        """`block`: their UTF-8, one after the other. `ends` (n + 1,): where each begins, and where the last ends."""
        self._block, self._ends = block, ends

    @classmethod
    def of(cls, texts: Iterable[str]) -> Names:
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(memoryview(b"".join(encoded)), ends)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        at = range(len(self))[place]  # from the end where it is below 0; IndexError beyond
        return str(self._block[self._ends[at] : self._ends[at + 1]], "utf-8")

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), AT_ONCE):
            ends = self._ends[first : first + AT_ONCE + 1].tolist()
            for start, end in itertools.pairwise(ends):
                yield str(self._block[start:end], "utf-8")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Names):
            return np.array_equal(self._ends, other._ends) and self._block == other._block
        return isinstance(other, tuple) and len(self) == len(other) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))
