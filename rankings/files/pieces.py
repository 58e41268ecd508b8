"""Columns that come in pieces, such as day by day. Apart, since `manage.py rate` loads no pyarrow.compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rankings.files.arrow import TEXTS
from rankings.tally.arrays import Narrow, narrowed
from rankings.tally.names import Names


class Pieces:
    """A column of texts or of whole numbers, from pieces (rows,) of it: texts are kept once, numbers narrowed."""

    def __init__(self) -> None:
        self._known: list[pa.Array] = [pa.array([], pa.string())]
        self._rows: list[Narrow] = [np.zeros(0, np.int8)]

    def add(self, column: pa.ChunkedArray) -> None:
        """A column of TEXTS, or of numbers, without nulls."""
        for chunk in column.chunks:
            if column.type == TEXTS:
                self._known.append(chunk.dictionary)
                chunk = chunk.indices
            self._rows.append(narrowed(np.from_dlpack(chunk)))  # to_numpy() would import pandas, which takes long

    def numbers(self) -> Narrow:
        """(rows,) of numbers. The pieces are used up."""
        return _joined(self._rows, np.result_type(*self._rows))

    def coded(self, like: tuple[str, ...] | Names = ()) -> tuple[Narrow, tuple[str, ...] | Names]:
        """(rows,) places in the sorted values of a column of texts, and these values: `like` itself where they are the
        same, so that they lie in memory once. The pieces are used up."""
        sizes = [len(each) for each in self._known]
        unified = pa.chunked_array(self._known).combine_chunks().dictionary_encode()
        self._known.clear()
        order = np.from_dlpack(pc.array_sort_indices(unified.dictionary))
        renumber = np.empty(len(order), np.int64)
        renumber[order] = np.arange(len(order))
        places = narrowed(renumber)[np.from_dlpack(unified.indices)]
        of_piece = np.split(places, np.cumsum(sizes)[:-1])
        codes = _joined(self._rows, places.dtype, of_piece)
        values = _names(unified.dictionary.take(pa.array(order)))
        return codes, like if values == like else values


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
        found[first : first + len(piece)] = tables[number][piece] if tables else piece
        first += len(piece)
        pieces[number] = found[:0]
    return found
