"""One board from several settings: what a contestant can do anywhere, plus what it can do in each setting. No Django.

The ability of contestant p on setting r is theta_p + offset_pr (and whatever the setting adds to all, which no
comparison shows). Offsets have mean 0 and a standard deviation of OFFSET_SD. With x_r the fit of setting r alone and
J_r what its votes tell about it, the weighted least squares estimate of theta is

    theta = (sum_r W_r)^+  sum_r W_r x_r,     W_r = J_r (1 + s² J_r)^-1,  s = OFFSET_SD.

A setting with few votes weighs by its votes; none weighs more than 1 / s², however many it has. So a million votes on
one setting do not outvote another setting, as they would in a plain pool. With one setting theta is its fit.
"""

from __future__ import annotations

import numpy as np

from rankings.fit.graph import diagonal_blocks
from rankings.fit.posterior import Posterior
from rankings.tally.arrays import Floats

OFFSET_SD = 100.0
"""Elo points: how far a contestant's abilities on two settings are thought to lie from what it can do anywhere."""


def lever(posterior: Posterior, x: Floats, settings: int, offset_sd: float) -> Floats:
    """(k, settings k) L with theta = L x, where x are the fits of the settings one after the other; k contestants.

    `offset_sd` in natural units.
    """
    blocks = diagonal_blocks(posterior.games.information_matrix(x), settings)
    weights = [_weight(information, offset_sd) for information in blocks]
    everything = np.linalg.pinv(np.sum(weights, axis=0), rcond=1e-10, hermitian=True)
    return everything @ np.concatenate(weights, axis=1)


def _weight(information: Floats, offset_sd: float) -> Floats:
    found = np.linalg.solve(np.eye(len(information)) + offset_sd**2 * information, information)
    return (found + found.T) / 2.0
