"""Many texts in one block of bytes: a million names take 20 MB, and 70 as texts of Python's own. No Django."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from rankings.tally.arrays import Integers, Narrow

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
            return tuple(self.at(np.arange(*place.indices(len(self)))))
        at = range(len(self))[place]  # from the end where it is below 0; IndexError beyond
        return str(self._block[self._ends[at] : self._ends[at + 1]], "utf-8")

    def at(self, places: Narrow) -> list[str]:
        """The texts at these places (n,), none of which is counted from the end."""
        starts, ends = (self._ends[places + far].tolist() for far in (0, 1))
        return [str(self._block[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]

    def places_of(self, texts: Collection[str]) -> Integers:
        """(n,) the places, in order, of those of `texts` that are among these, which must be sorted and different. An
        empty text is passed over."""
        known, first = self._fixed
        wanted = np.array(sorted({text.encode() for text in texts if text}), np.bytes_)
        place = np.searchsorted(known, wanted)
        found = place < len(known)
        found[found] = known[place[found]] == wanted[found]
        return place[found] + first

    @cached_property
    def _fixed(self) -> tuple[NDArray[np.bytes_], int]:
        """These without an empty first one as an array, which copies nothing where all are equally long; and the place
        of its first."""
        lengths, first = np.diff(self._ends), int(self[:1] == ("",))
        width = int(lengths.max(initial=1))
        if (lengths[first:] == width).all():
            return np.frombuffer(self._block, f"S{width}", len(self) - first, int(self._ends[0])), first
        return np.array([text.encode() for text in self[first:]], f"S{width}"), first

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


def places_of(texts: Collection[str], among: tuple[str, ...] | Names) -> Integers:
    """(n,) as `Names.places_of`, of texts that may stand in a tuple."""
    return among.places_of(texts) if isinstance(among, Names) else Names.of(among).places_of(texts)


def texts_at(texts: tuple[str, ...] | Names, places: Narrow) -> list[str]:
    """The texts at these places (n,)."""
    return texts.at(places) if isinstance(texts, Names) else [texts[place] for place in places.tolist()]
