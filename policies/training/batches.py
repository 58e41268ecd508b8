"""The order, the augmentation and the losses' masks that the training of all families shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

BRIGHTNESS, CONTRAST, COLOUR = 0.1, 0.1, 0.04  # standard deviations, pictures in -1..1


class FrameOrder:
    """The frames of each step, which depend on the seed and the step alone, so that a resumed run goes on exactly.

    Every pass over all `count` frames has its own order; batches are cut without regard to where a pass ends.
    `times` (count,): how often a pass shows each of them, once by default.
    """

    def __init__(self, count: int, batch: int, seed: int, times: NDArray[np.int64] | None = None) -> None:
        self._shown = np.arange(count) if times is None else np.repeat(np.arange(count), times)
        self.count, self.batch, self.seed = len(self._shown), batch, seed
        self._pass, self._order = -1, np.empty(0, np.int64)

    def rows(self, step: int) -> NDArray[np.int64]:
        """Row numbers of the batch of one step, (batch,)."""
        wanted = np.arange(step * self.batch, (step + 1) * self.batch)
        return np.array([self._permutation(int(n) // self.count)[int(n) % self.count] for n in wanted])

    def random(self, step: int) -> np.random.Generator:
        """Everything else that is random in the batch of one step."""
        return np.random.default_rng([self.seed, 1, step])

    def _permutation(self, number: int) -> NDArray[np.int64]:
        if number != self._pass:
            order = np.random.default_rng([self.seed, 0, number]).permutation(self.count)
            self._pass, self._order = number, self._shown[order]
        return self._order


def draw_light(count: int, random: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gain and offset of the colours of pictures in -1..1, each (count, 3).

    Pictures are never shifted: the arm acts on the place of a pixel.
    """
    gain = 1 + random.normal(0, CONTRAST, (count, 1)) + random.normal(0, COLOUR, (count, 3))
    offset = random.normal(0, BRIGHTNESS, (count, 1)) + random.normal(0, COLOUR, (count, 3))
    return gain, offset


def to_float(array: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, np.float32))


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum() / mask.sum().clamp(min=1)


def weighted_sum(terms: Mapping[str, Tensor], weights: Mapping[str, float]) -> Tensor:
    return torch.stack([weights[name] * term for name, term in terms.items()]).sum()
