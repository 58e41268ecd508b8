"""The types of arrays that figures are made of, and runs of equal rows in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


def starts_of_runs(*columns: Integers) -> Integers:
    """(runs,) the first row of each run of equal rows, of columns (rows,)."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)
