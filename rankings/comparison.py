"""Is A better than B at this task? What a publication says about two policies. Numbers in, numbers out, no Django."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from rankings.bradley_terry import SCALE, Z
from rankings.by_task import ByTask
from rankings.counts import MIRRORED
from rankings.physics import PhysicsRow
from rankings.posterior import sigmoid
from rankings.settled import Settled

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)


@dataclass(frozen=True)
class Belief:
    """About a difference of two ratings: normal, in Elo points. `deviation` infinite: nothing is known."""

    mean: float
    deviation: float

    @property
    def known(self) -> bool:
        return math.isfinite(self.deviation)

    @property
    def chance(self) -> float:
        """That the difference is above 0; one half where nothing is known."""
        if not self.deviation:
            return 0.5 + 0.5 * float(np.sign(self.mean))
        return 0.5 * math.erfc(-self.mean / self.deviation / math.sqrt(2.0))

    @property
    def share(self) -> float:
        """The share of votes to be expected, ties counting half: the mean of sigmoid(difference)."""
        points = (self.mean + self.deviation * NODES) / SCALE
        return float(sigmoid(points) @ WEIGHTS / WEIGHTS.sum()) if self.known else 0.5

    @property
    def low(self) -> float:
        """Of the 95 % interval."""
        return self.mean - Z * self.deviation

    @property
    def high(self) -> float:
        return self.mean + Z * self.deviation


NOTHING = Belief(0.0, math.inf)
