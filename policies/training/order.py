"""Which frames a step sees: a matter of the seed and the step alone, so that a resumed run goes on exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class FrameOrder:
    """Passes over all `count` frames, each in its own order, cut into batches without regard to where a pass ends."""

    def __init__(self, count: int, batch: int, seed: int) -> None:
        self.count, self.batch, self.seed = count, batch, seed
        self._pass, self._order = -1, np.empty(0, np.int64)

    def rows(self, step: int) -> NDArray[np.int64]:
        """Row numbers of the batch of one step, (batch,)."""
        wanted = np.arange(step * self.batch, (step + 1) * self.batch)
        return np.array([self._permutation(int(n) // self.count)[int(n) % self.count] for n in wanted])

    def _permutation(self, number: int) -> NDArray[np.int64]:
        if number != self._pass:
            order = np.random.default_rng([self.seed, 0, number]).permutation(self.count)
            self._pass, self._order = number, order
        return self._order
