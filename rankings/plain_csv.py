"""A plain CSV file as numbers, by numpy alone: every line has as many values as the first, and nothing is quoted.

The bytes of a value are taken eight at a time as one integer, for all lines at once. Equal values are found by these
integers, not by a hash of them, so nothing is ever taken for something else. No Django.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rankings.counts import Integers

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Coded = tuple[Integers, list[str]]
"""(lines,) places in the sorted values of a column, and these."""
Found = TypeVar("Found")

BLOCK = 1 << 19
"""Bytes looked at together: what a processor keeps at hand."""
THREADS = 2
SAMPLE = 512
"""Lines that tell whether the values of a column repeat."""
LONGEST = 128
"""Bytes of a value; a longer one is not plain."""
COMMA, NEWLINE, RETURN, QUOTE, BLANK = b',\n\r" '
MASKS = np.array([(1 << 8 * kept) - 1 for kept in range(9)], dtype="<u8")
"""The first 0 to 8 bytes of a word."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""2^64 by the golden ratio: multiplying by it lets every bit tell in the highest ones."""
HALF = np.uint64(32)
EDGES = re.compile(r"(?m)^[^\S\r\n]|[^\S\r\n]\r?$|,[^\S\r\n]|[^\S\r\n],")
"""A blank of any alphabet beside a value."""


class NotPlain(ValueError):
    """The file needs another reader. Says why."""


@dataclass(frozen=True)
class Values:
    """One column; `words`: eight bytes of each line's value after the other, each (lines,), zeros behind a value."""

    words: list[Words]

    @classmethod
    def joined(cls, blocks: Sequence[Values]) -> Values:
        """Block after block; where values are shorter, zeros are the words that they lack."""
        most = max((len(block.words) for block in blocks), default=1)
        empty = np.zeros(0, np.uint64)
        return cls([np.concatenate([empty, *(block._word(number) for block in blocks)]) for number in range(most)])

    def __len__(self) -> int:
        return len(self.words[0])

    def texts(self, lines: Integers) -> list[str]:
        found = np.stack([word[lines] for word in self.words], axis=1)
        return [value.decode() for value in found.view(f"S{8 * len(self.words)}").ravel().tolist()]

    def distinct(self) -> bool:
        """Whether no two lines are equal; False may be wrong, True is not."""
        key = np.sort(self._key())
        return bool((key[1:] != key[:-1]).all())

    def kinds(self) -> tuple[Integers, Values]:
        """(lines,) places among the different values, and these; the lines themselves where many of them differ."""
        if len(np.unique(self._key()[:SAMPLE])) > SAMPLE // 2:
            return np.arange(len(self)), self
        shown = self._shown_by()
        seen = np.zeros(len(shown), dtype=bool)
        seen[shown] = True
        lines = np.flatnonzero(seen)
        place = np.empty(len(shown), np.int64)
        place[lines] = np.arange(len(lines))
        return place[shown], Values([word[lines] for word in self.words])

    def coded(self) -> tuple[Integers, list[str]]:
        """(lines,) places in the sorted values, and these."""
        shown = self._shown_by()
        seen = np.zeros(len(shown), dtype=bool)
        seen[shown] = True
        lines = np.flatnonzero(seen)
        # The order of bytes in UTF-8 is the order of characters.
        lines = lines[np.lexsort([word[lines].byteswap() for word in reversed(self.words)])]
        place = np.empty(len(shown), np.int64)
        place[lines] = np.arange(len(lines))
        return place[shown], self.texts(lines)

    def _word(self, number: int) -> Words:
        return self.words[number] if number < len(self.words) else np.zeros(len(self), np.uint64)

    def _key(self) -> Words:
        """(lines,) equal for equal values, for others hardly ever."""
        found = self.words[0]
        for word in self.words[1:]:
            found = (found ^ (found >> HALF)) * MIX + word
        return found

    def _shown_by(self) -> Integers:
        """(lines,) a line with the same value, which is the same line for all that have it.

        Lines are thrown into slots by their keys; whoever came last into a slot stands for all that equal it. Who
        shares a slot with another value is thrown again.
        """
        bits = min(22, len(self).bit_length() + 1)
        slots = np.empty(1 << bits, np.int64)
        found = rest = np.arange(len(self))
        key, words = self._key(), self.words
        while len(rest):
            key = (key ^ (key >> HALF)) * MIX
            slot = (key >> np.uint64(64 - bits)).view(np.int64)
            slots[slot] = rest
            last = slots[slot]
            same = self.words[0][last] == words[0]
            for whole, word in zip(self.words[1:], words[1:], strict=True):
                same &= whole[last] == word
            if len(rest) == len(found) and same.all():
                return last
            found[rest[same]] = last[same]
            rest, key, words = rest[~same], key[~same], [word[~same] for word in words]
        return found


@dataclass(frozen=True)
class Header:
    """The first line: `names` of the columns; `returns`: how many bytes stand before the end of each line, 0 or 1."""

    names: list[str]
    returns: int

    @classmethod
    def of(cls, path: Path) -> Header:
        """Raises NotPlain, OSError and UnicodeDecodeError."""
        with path.open("rb") as file:
            line = file.readline()
        if b'"' in line or b"\r" in line.rstrip(b"\r\n"):
            raise NotPlain("a first line that needs a second look")
        names = line.decode("utf-8-sig").rstrip("\r\n").split(",")
        return cls([name.strip() for name in names], int(line.endswith(b"\r\n")))


def read(path: Path, header: Header, coded: Sequence[str], plain: str) -> tuple[dict[str, Coded], Values]:
    """Some columns, by name: those whose values repeat as codes, and another one as it is. No value has a blank before
    or behind it.

    Raises NotPlain, OSError and UnicodeDecodeError.
    """
    places = [header.names.index(column) for column in (*coded, plain)]

    def work(block: Bytes) -> tuple[list[tuple[Integers, Values]], Values]:
        *repeating, other = _columns(block, header, places)
        return [values.kinds() for values in repeating], other

    blocks = list(_several(work, _blocks(path)))
    with ThreadPoolExecutor(THREADS) as several:
        merged = several.map(lambda number: _merged([block[number] for block, _ in blocks]), range(len(coded)))
        return dict(zip(coded, merged, strict=True)), Values.joined([other for _, other in blocks])


def _several(work: Callable[[Bytes], Found], blocks: Iterator[Bytes]) -> Iterator[Found]:
    """What `work` makes of each block, in their order. No more are read ahead than are worked on."""
    waiting: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(THREADS) as several:
        for block in blocks:
            waiting.append(several.submit(work, block))
            if len(waiting) > THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _merged(blocks: list[tuple[Integers, Values]]) -> Coded:
    """One column from the kinds of its blocks."""
    codes, texts = Values.joined([kinds for _, kinds in blocks]).coded()
    ends = np.cumsum([len(kinds) for _, kinds in blocks])
    parts = [codes[end - len(kinds) : end][places] for end, (places, kinds) in zip(ends.tolist(), blocks, strict=True)]
    return np.concatenate([np.zeros(0, np.int64), *parts]), texts


def _blocks(path: Path) -> Iterator[Bytes]:
    """The lines behind the first one, some BLOCK bytes at a time: whole lines, each ended, and LONGEST zeros behind
    them, so that one may look past the end."""
    with path.open("rb") as file:
        file.readline()
        rest = np.zeros(0, np.uint8)
        while True:
            data = np.empty(len(rest) + BLOCK + 1 + LONGEST, np.uint8)
            data[: len(rest)] = rest
            size = len(rest) + file.readinto(data[len(rest) : len(rest) + BLOCK].data)
            last = size == len(rest)
            if last and size:
                data[size] = NEWLINE
            end = size + 1 if last else _after_last_line(data, size)
            rest = data[end:size].copy()
            if last and not size:
                return
            if end:
                data[end : end + LONGEST] = 0
                yield data[: end + LONGEST]
            if last:
                return


def _after_last_line(data: Bytes, size: int) -> int:
    """Where the last line that is ended within the first `size` bytes ends; 0: none is."""
    for end in range(size, 0, -1024):
        first = max(0, end - 1024)
        found = np.flatnonzero(data[first:end] == NEWLINE)
        if len(found):
            return first + int(found[-1]) + 1
    return 0


def _columns(data: Bytes, header: Header, places: Sequence[int]) -> list[Values]:
    """Some columns in a block of lines."""
    block, width = data[:-LONGEST], len(header.names)
    at = np.flatnonzero((block == COMMA) | (block == NEWLINE))
    if len(at) % width or not (block[at[width - 1 :: width]] == NEWLINE).all():
        raise NotPlain(f"a line has more or fewer than {width} values")
    ends = at.reshape(-1, width)
    if header.returns and not (block[ends[:, -1] - 1] == RETURN).all():
        raise NotPlain("lines end in different ways")
    _check_bytes(block, len(ends) * (1 + header.returns))
    found = []
    for place in places:
        starts = ends[:, place - 1] + 1 if place else np.append(0, ends[:-1, -1] + 1)
        stops = ends[:, place] - header.returns if place == width - 1 else ends[:, place]
        found.append(_values(data, starts, stops - starts))
    return found


def _check_bytes(block: Bytes, controls: int) -> None:
    """`controls`: how many control characters there have to be, those that end lines."""
    if int(np.count_nonzero(block <= QUOTE)) == controls and block.max() <= 0x7F:
        return  # neither blanks nor quotes nor anything else that needs a second look
    if int(np.count_nonzero(block < BLANK)) != controls:
        raise NotPlain("control characters, or a line has more values than others")
    if (block == QUOTE).any():
        raise NotPlain("quoted values")
    if EDGES.search(block.tobytes().decode()):
        raise NotPlain("blanks around a value")


def _values(data: Bytes, starts: Integers, lengths: Integers) -> Values:
    """Those that start there and are so long."""
    longest = int(lengths.max())
    if longest > LONGEST:
        raise NotPlain(f"a value is longer than {LONGEST} bytes")
    if int(lengths.min()) == longest:
        lengths = lengths[:1]
    eight = np.ndarray((len(data) - 7,), "V8", data, strides=(1,))
    return Values(
        [eight[starts + done].view("<u8") & MASKS[np.clip(lengths - done, 0, 8)] for done in range(0, longest or 1, 8)]
    )
