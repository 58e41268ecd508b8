"""Columns that pyarrow has read, as the numbers that a table of votes is made of. No Django."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankings.tally.arrays import Integers

Coded = tuple[Integers, list[str]]
"""(rows,) places in the sorted values of a column, and these."""
MASKS = np.array([(1 << 8 * kept) - 1 for kept in range(9)], dtype="<u8")
"""The first 0 to 8 bytes of a word."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""2^64 by the golden ratio: multiplying by it lets every bit tell in the highest ones."""
HALF = np.uint64(32)


class NotPlain(ValueError):
    """The file needs another reader. Says why."""


def coded(column: pa.ChunkedArray, *, strip: bool = True) -> Coded:
    """From a column of dictionaries of texts. Blanks around a text do not count, unless `strip` is False."""
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], pa.dictionary(pa.int32(), pa.string()))
    texts = [text.strip() if strip else text for text in whole.dictionary.to_pylist()]
    values = sorted(set(texts))
    place = {text: number for number, text in enumerate(values)}
    renumber = np.fromiter((place[text] for text in texts), np.int64, len(texts))
    # By its buffer: to_numpy() would look for pandas, which takes long to load.
    places = np.frombuffer(whole.indices.buffers()[1] or b"", np.int32)[whole.indices.offset :][: len(whole)]
    return renumber[places], values


def check_battles(battles: pa.ChunkedArray, nameless: Collection[str]) -> None:
    """Each of these texts must be another, none `nameless` (in lower case), none between blanks. Raises NotPlain."""
    keys = [np.zeros(0, np.uint64)]
    for chunk in battles.chunks:
        data, ends = _bytes(chunk)
        lengths = np.diff(ends)
        short = np.flatnonzero(lengths <= max(map(len, nameless)))
        if any(chunk[place].as_py().lower() in nameless for place in short.tolist()):
            raise NotPlain("a battle_id is empty")
        if _unusual(data[ends[0] : ends[-1]]) and any(text != text.strip() for text in chunk.to_pylist()):
            raise NotPlain("a battle_id stands between blanks")
        keys.append(_keys(data, ends[:-1], lengths))
    sorted_keys = np.sort(np.concatenate(keys))
    if (sorted_keys[1:] == sorted_keys[:-1]).any():
        raise NotPlain("a battle was voted on twice, as far as one can see at a glance")


def _bytes(texts: pa.StringArray) -> tuple[NDArray[np.uint8], Integers]:
    """The bytes of all texts, one behind the other, and (texts + 1,) where each begins and the last one ends."""
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    return np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8), offsets


def _unusual(data: NDArray[np.uint8]) -> bool:
    """Whether there are blanks, control characters or other alphabets."""
    return bool(len(data)) and bool(data.min() <= 0x20 or data.max() >= 0x7F)


def _keys(data: NDArray[np.uint8], starts: Integers, lengths: Integers) -> NDArray[np.uint64]:
    """(texts,) a number per text: equal for equal texts, for others hardly ever.

    A text is taken eight bytes at a time. Up to eight bytes are their own number; of more, the words are mixed.
    """
    eight = np.ndarray((len(data) + 1,), "V8", np.append(data, np.zeros(8, np.uint8)), strides=(1,))
    found = np.zeros(len(starts), np.uint64)
    for done in range(0, int(lengths.max(initial=0)), 8):
        left = np.clip(lengths - done, 0, 8)
        words = eight[np.minimum(starts + done, len(data))].view("<u8") & MASKS[left]
        found = np.where(left > 0, (found ^ (found >> HALF)) * MIX + words, found)
    return found
