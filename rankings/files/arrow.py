"""Columns that pyarrow has read, as the numbers that a table of votes is made of. No Django."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rankings.tally.arrays import Integers

TEXTS = pa.dictionary(pa.int32(), pa.string())
"""A column that keeps each text once."""
Coded = tuple[Integers, list[str]]
"""(rows,) places in the sorted values of a column, and these values."""


def coded(column: pa.ChunkedArray, *, strip: bool = True) -> Coded:
    """From a column of TEXTS without nulls. `strip`: blanks around a text do not count."""
    whole = column.combine_chunks()
    texts = [text.strip() if strip else text for text in whole.dictionary.to_pylist()]
    values = sorted(set(texts))
    place = {text: number for number, text in enumerate(values)}
    renumber = np.array([place[text] for text in texts], np.int64)
    return renumber[np.from_dlpack(whole.indices)], values  # to_numpy() would import pandas, which takes long
