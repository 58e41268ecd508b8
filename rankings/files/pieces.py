"""Columns that come in pieces, such as day by day. Apart, since `manage.py rate` loads no pyarrow.compute."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rankings.files.arrow import TEXTS
from rankings.tally.arrays import Narrow, narrowed
from rankings.tally.names import Names


class Known(NamedTuple):
    """How a column of texts was coded: its sorted `values`, the same as an `array`, and by the SHA-256 of a piece's
    dictionary the place of each of its texts among these."""

    values: Names
    array: pa.StringArray
    places: dict[bytes, Narrow]


class Pieces:
    """A column of texts or of whole numbers, from pieces (rows,) of it: texts are kept once, numbers narrowed.

    `known`: of a column that has mostly the same pieces' dictionaries; these are not kept again, and all its values are
    among those of this column."""

    def __init__(self, known: Known | None = None) -> None:
        self._before = known
        self._dictionaries: list[pa.StringArray] = [known.array if known else pa.array([], pa.string())]
        self._digests: list[bytes] = [b""]
        self._rows: list[Narrow] = [np.zeros(0, np.int8)]
        self._dictionary_of: list[int] = [0]

    def add(self, column: pa.ChunkedArray) -> None:
        """A column of TEXTS, or of numbers, without nulls."""
        for chunk in column.chunks:
            if column.type == TEXTS:
                self._rows.append(self._in_dictionary(chunk.dictionary, narrowed(np.from_dlpack(chunk.indices))))
            else:
                self._rows.append(narrowed(np.from_dlpack(chunk)))  # to_numpy() would import pandas, which takes long

    def _in_dictionary(self, dictionary: pa.StringArray, rows: Narrow) -> Narrow:
        """(rows,) places in the dictionary that is noted for these rows."""
        digest = _digest(dictionary)
        known: Narrow | None = self._before.places.get(digest) if self._before else None
        if known is not None:
            self._dictionary_of.append(0)
            found: Narrow = known[rows]
            return found
        self._dictionary_of.append(len(self._dictionaries))
        self._dictionaries.append(dictionary)
        self._digests.append(digest)
        return rows

    def numbers(self) -> Narrow:
        """(rows,) of numbers. The pieces are used up."""
        return _joined(self._rows, np.result_type(*self._rows))

    def coded(self) -> tuple[Narrow, Known]:
        """(rows,) places in the sorted values of a column of texts, and these. The pieces are used up."""
        if self._before and len(self._dictionaries) == 1:
            return _joined(self._rows, np.result_type(*self._rows)), self._before
        is_empty = [not len(each) for each in self._dictionaries]
        unified = pa.chunked_array(self._dictionaries, pa.string()).dictionary_encode()
        self._dictionaries.clear()
        dictionary = unified.chunk(0).dictionary if unified.num_chunks else pa.array([], pa.string())  # of all chunks
        order = np.from_dlpack(pc.array_sort_indices(dictionary))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        place = narrowed(place)
        chunks = (place[np.from_dlpack(chunk.indices)] for chunk in unified.chunks)  # those of empty ones are left out
        places = [place[:0] if empty else next(chunks) for empty in is_empty]
        codes = _joined(self._rows, places[0].dtype, [places[number] for number in self._dictionary_of])
        values = dictionary.take(pa.array(order))
        return codes, Known(_names(values), values, dict(zip(self._digests, places, strict=True)))


def _digest(texts: pa.StringArray) -> bytes:
    if not len(texts):
        return b""
    _, buffer, block = texts.buffers()
    ends = np.frombuffer(buffer, np.int32, len(texts) + 1, 4 * texts.offset)
    found = hashlib.sha256(ends - ends[0])
    found.update(memoryview(block or b"")[ends[0] : ends[-1]])
    return found.digest()


def _names(texts: pa.StringArray) -> Names:
    """Of an array without an offset."""
    if not len(texts):
        return Names.of(())
    _, ends, block = texts.buffers()
    return Names(memoryview(block or b""), np.frombuffer(ends, np.int32, len(texts) + 1))


def _joined(pieces: list[Narrow], kind: np.dtype[Any], tables: Sequence[Narrow] = ()) -> Narrow:
    """One piece after the other, which are forgotten meanwhile. `tables`: what the numbers of each piece stand for."""
    found, first = np.empty(sum(map(len, pieces)), kind), 0
    for number, piece in enumerate(pieces):
        found[first : first + len(piece)] = tables[number].take(piece) if tables else piece
        first += len(piece)
        pieces[number] = found[:0]
    return found
