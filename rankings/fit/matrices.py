"""Inverse and product of symmetric matrices. Of large ones, what symmetry gives twice is computed once."""

from __future__ import annotations

import numpy as np

from rankings.tally.arrays import Floats

LARGE = 128
"""Rows from which a matrix is computed in parts: below, the calls themselves take longer than they save."""


def inverse(matrix: Floats) -> Floats:
    """(n, n) of a symmetric positive definite one (n, n).

    By its Schur complement, whose products take half the operations of LAPACK's general inverse: G. Golub,
    C. Van Loan, Matrix Computations (4th edition, 2013), 3.2.11.
    """
    if len(matrix) < LARGE:
        return np.linalg.inv(matrix).astype(float)
    half = len(matrix) // 2
    edge = matrix[:half, half:]
    first = inverse(matrix[:half, :half])
    across = first @ edge
    last = inverse(matrix[half:, half:] - _symmetric(edge.T, across))
    corner = across @ last
    found = np.empty_like(matrix)
    found[:half, :half], found[half:, half:] = first + _symmetric(corner, across.T), last
    np.negative(corner, out=found[:half, half:])
    found[half:, :half] = found[:half, half:].T
    return found


def sandwich(bread: Floats, meat: Floats) -> Floats:
    """(n, n) bread meat bread, of symmetric ones (n, n)."""
    return _symmetric(bread @ meat, bread)


def _symmetric(left: Floats, right: Floats) -> Floats:
    """(n, n) left right, which is known to be symmetric: what is right of the diagonal, strip by strip."""
    size = len(left)
    if size < 2 * LARGE:
        return left @ right
    found = np.empty((size, size))
    for first in range(0, size, LARGE):
        rows = slice(first, first + LARGE)
        found[rows, first:] = left[rows] @ right[:, first:]
        found[first:, rows] = found[rows, first:].T
    return found
