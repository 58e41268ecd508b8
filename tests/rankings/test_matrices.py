"""Inverses and products of large symmetric matrices, which are made of parts, are those of the plain formulas."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.fit.matrices import LARGE, inverse, sandwich
from rankings.tally.arrays import Floats

SIZES = (1, 2, LARGE - 1, LARGE, LARGE + 1, 2 * LARGE, 3 * LARGE + 7)


def information(size: int, least: float) -> Floats:
    """(size, size) of a board on which few pairs have votes, and some many more than others; `least`: of its prior."""
    rng = np.random.default_rng(size)
    votes = np.triu(rng.pareto(1.0, (size, size)) * (rng.random((size, size)) < 0.05), 1)
    votes += votes.T
    return np.diag(votes.sum(axis=1) + least) - votes


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("least", [1.0, 1e-2, 1e-6])
def test_an_inverse_is_one_to_the_last_digits_that_the_matrix_leaves(size: int, least: float) -> None:
    matrix = information(size, least)
    found, plain = inverse(matrix), np.linalg.inv(matrix)
    assert np.abs(found - plain).max() <= 1e-15 * np.linalg.cond(matrix) * np.abs(plain).max()
    left_over = np.abs(found @ matrix - np.eye(size)).max()
    assert left_over <= max(10 * np.abs(plain @ matrix - np.eye(size)).max(), 1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_a_sandwich_is_the_product_of_its_three(size: int) -> None:
    bread, meat = information(size, 1.0), information(size, 0.5)
    np.testing.assert_allclose(sandwich(bread, meat), bread @ meat @ bread, rtol=1e-12, atol=1e-9 * np.abs(bread).max())
