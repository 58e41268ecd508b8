"""Action tokens and their values: 256 edges over [-1, 1] as the last ids of the vocabulary, scaled by quantiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.networks.openvla_sizes import OpenVLAConfig
from policies.statistics import mask, vector
from simulation.contracts import ACTION_DIM, Floats

Ids = NDArray[np.int64]


class ActionTokens:
    """Ids count down from the end of the vocabulary without its padding: the lowest bin has the highest id.

    There is one interval fewer than edges, so encoding has one more id than decoding has centres: the two ids of the
    top both mean the last interval.
    """

    def __init__(self, config: OpenVLAConfig) -> None:
        self.vocabulary = config.base_vocabulary
        self.edges = np.linspace(-1.0, 1.0, config.action_bins)
        self.centres = (self.edges[:-1] + self.edges[1:]) / 2.0

    def encode(self, actions: Floats) -> Ids:
        """Normalised actions (...,) -> ids (...,), for training."""
        return self.vocabulary - np.digitize(np.clip(actions, -1.0, 1.0), self.edges).astype(np.int64)

    def decode(self, ids: Ids) -> Floats:
        """Any ids (...,) -> interval centres (...,). An id outside the action range means the nearest end."""
        intervals = np.clip(self.vocabulary - ids - 1, 0, len(self.centres) - 1)
        return self.centres[intervals]


@dataclass(frozen=True)
class QuantileScale:
    """Bounds of the unmasked dimensions, their 1 % and 99 % quantiles. A masked dimension is not scaled."""

    low: Floats
    high: Floats
    mask: NDArray[np.bool_]

    @classmethod
    def from_statistics(cls, action: Mapping[str, Any], length: int = ACTION_DIM) -> QuantileScale:
        return cls(vector(action, "q01", length), vector(action, "q99", length), mask(action, length))

    def unnormalise(self, actions: Floats) -> Floats:
        """(..., 7) in [-1, 1] -> (..., 7) in m, rad; the gripper is masked and stays."""
        return np.where(self.mask, 0.5 * (actions + 1) * (self.high - self.low) + self.low, actions)

    def normalise(self, actions: Floats) -> Floats:
        """The inverse, clipped to [-1, 1] where it is not masked, for training."""
        span = np.where(self.high > self.low, self.high - self.low, 1.0)
        return np.where(self.mask, np.clip(2 * (actions - self.low) / span - 1, -1, 1), actions)
