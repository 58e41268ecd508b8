"""Inverse and product of symmetric matrices. Large ones by halves: what symmetry gives twice is computed once."""

from __future__ import annotations

import numpy as np

from rankings.tally.arrays import Floats

LARGE = 256
"""Rows from which halves are quicker: below, the calls themselves take longer than they save."""


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
    last = inverse(matrix[half:, half:] - edge.T @ across)
    corner = -across @ last
    return _whole(first - corner @ across.T, corner, last)


def sandwich(bread: Floats, meat: Floats) -> Floats:
    """(n, n) bread meat bread, of symmetric ones (n, n)."""
    moved = bread @ meat
    if len(bread) < LARGE:
        return moved @ bread
    half = len(bread) // 2
    above = moved[:half] @ bread
    return _whole(above[:, :half], above[:, half:], moved[half:] @ bread[:, half:])


def _whole(first: Floats, corner: Floats, last: Floats) -> Floats:
    """The symmetric matrix of these blocks, and the transposed corner."""
    half = len(first)
    found = np.empty((half + len(last),) * 2)
    found[:half, :half], found[:half, half:] = first, corner
    found[half:, :half], found[half:, half:] = corner.T, last
    return found
