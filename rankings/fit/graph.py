"""Which contestants votes connect: reachability among some hundreds of them at most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankings.tally.arrays import Booleans, Integers


def reachability(edges: Booleans) -> Booleans:
    """(k, k): can j be reached from i along edges (a node always reaches itself). Squares the matrix until it rests,
    unless the first node reaches all others and is reached by them, as it mostly does."""
    if len(edges) and _reached(edges).all() and _reached(edges.T).all():
        return np.ones(edges.shape, dtype=bool)
    reach = edges | np.eye(len(edges), dtype=bool)
    while True:
        further = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
        if np.array_equal(further, reach):
            return reach
        reach = further


def _reached(edges: Booleans) -> Booleans:
    """(k,) from the first node."""
    found = new = np.arange(len(edges)) == 0
    while new.any():
        new = edges[new].any(axis=0) & ~found
        found = found | new
    return found


def diagonal_blocks(matrix: NDArray[Any], number: int) -> NDArray[Any]:
    """(number, k, k) of a matrix (number k, number k)."""
    size = len(matrix) // number
    return matrix.reshape(number, size, number, size)[range(number), :, range(number)]


def groups(together: Booleans) -> Integers:
    """(k,) a label per node from an equivalence (k, k): the smallest index of its class."""
    return np.argmax(together, axis=1).astype(np.int64) if len(together) else np.zeros(0, np.int64)
