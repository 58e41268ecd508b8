"""Columns that pyarrow has read, as the numbers that a table of votes is made of. No Django."""

from __future__ import annotations

import itertools
import operator

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
    order = sorted(range(len(texts)), key=texts.__getitem__)
    ordered = [texts[place] for place in order]
    new = [*map(operator.ne, ordered, ["", *ordered])]  # two texts may be one without their blanks
    new[:1] = [True] * len(new[:1])
    renumber = np.empty(len(texts), np.int64)
    renumber[order] = np.cumsum(new) - 1
    values = [*itertools.compress(ordered, new)]
    return renumber[np.from_dlpack(whole.indices)], values  # to_numpy() would import pandas, which takes long
