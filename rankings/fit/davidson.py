"""Ties as an outcome of their own (Davidson 1970), instead of half a win each. Numbers in, numbers out, no Django.

R. Davidson, On extending the Bradley-Terry model to accommodate ties in paired comparison experiments, JASA 65 (1970).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankings.fit.posterior import FitError, Posterior, margins, sigmoid, tie_share
from rankings.tally.arrays import Floats

ROUNDS = 200
TOLERANCE = 1e-9
FURTHEST = 20.0
"""log nu is kept within this: where every vote is a tie and there is no prior, no finite value is the likeliest."""


def with_ties(posterior: Posterior) -> tuple[Posterior, Floats]:
    """The posterior with the likeliest nu, and its mode: nu and the rest in turns, until nu rests.

    nu has a virtual game too: half a tie among equals and half a decided vote.
    """
    log_nu = np.log(0.5)
    for _ in range(ROUNDS):
        posterior = replace(posterior, games=replace(posterior.games, nu=float(np.exp(log_nu))))
        x = posterior.mode()
        found = _likeliest_log_nu(posterior, x, log_nu)
        if abs(found - log_nu) < TOLERANCE:
            return posterior, x
        log_nu = found
    raise FitError(f"no rest after {ROUNDS} rounds for the share of ties")


def _likeliest_log_nu(posterior: Posterior, x: Floats, start: float) -> float:
    """By Newton's method; the density is concave in log nu, and steps are at most 1."""
    games, margin, log_nu = posterior.games, margins(x), start
    for _ in range(ROUNDS):
        tie, own = tie_share(margin, float(np.exp(log_nu))), sigmoid(np.array(log_nu))
        slope = float((games.tied - games.played * tie).sum() - posterior.prior * (own - 0.5))
        bend = float((games.played * tie * (1.0 - tie)).sum() + posterior.prior * own * (1.0 - own))
        step = float(np.clip(slope / max(bend, 1e-12), -1.0, 1.0))
        log_nu = float(np.clip(log_nu + step, -FURTHEST, FURTHEST))
        if abs(step) < TOLERANCE / 10 or abs(log_nu) == FURTHEST:
            break
    return log_nu
