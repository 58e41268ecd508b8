"""Quantiles for intervals whose standard deviation is estimated from few voters. No Django."""

from __future__ import annotations

import numpy as np

from rankings.tally.arrays import Floats

Z = 1.959963984540054
"""Two-sided 95 % of a normal distribution."""
LEAST = 2.0
"""The fewest degrees of freedom that are assumed."""


def quantile(degrees: Floats) -> Floats:
    """Two-sided 95 % of Student's distribution, within 1 % from 2 degrees of freedom on.

    Expansion in their inverse: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions (1964), 26.7.5.
    """
    terms = (
        (Z**3 + Z) / 4.0,
        (5.0 * Z**5 + 16.0 * Z**3 + 3.0 * Z) / 96.0,
        (3.0 * Z**7 + 19.0 * Z**5 + 17.0 * Z**3 - 15.0 * Z) / 384.0,
        (79.0 * Z**9 + 776.0 * Z**7 + 1482.0 * Z**5 - 1920.0 * Z**3 - 945.0 * Z) / 92160.0,
    )
    known = np.maximum(degrees, LEAST)
    found: Floats = Z + np.sum([term / known ** (power + 1) for power, term in enumerate(terms)], axis=0)
    return found
