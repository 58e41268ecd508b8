"""Columns that pyarrow has read, as the numbers that a table of votes is made of. No Django."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rankings.tally.arrays import Integers

TEXTS = pa.dictionary(pa.int32(), pa.string())
"""A column that keeps each text once."""
Coded = tuple[Integers, list[str]]
"""(rows,) places in the sorted values of a column, and these."""


def coded(column: pa.ChunkedArray, *, strip: bool = True) -> Coded:
    """From a column of TEXTS. Blanks around a text do not count, unless `strip` is False."""
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], TEXTS)
    texts = [text.strip() if strip else text for text in whole.dictionary.to_pylist()]
    values = sorted(set(texts))
    place = {text: number for number, text in enumerate(values)}
    renumber = np.fromiter((place[text] for text in texts), np.int64, len(texts))
    # By its buffer: to_numpy() would look for pandas, which takes long to load.
    places = np.frombuffer(whole.indices.buffers()[1] or b"", np.int32)[whole.indices.offset :][: len(whole)]
    return renumber[places], values
