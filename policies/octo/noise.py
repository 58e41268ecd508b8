"""The normal noise of a torch generator without torch: what `torch.randn` draws on a CPU, up to rounding.

That is a Mersenne twister whose words give 24 bits each, turned to normal numbers by Box and Muller, eight pairs at a
time. The last of a count that is no multiple of 16 are drawn again as a whole sixteen.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
GROUP = 16
_WORD, _BITS = (1 << 32) - 1, (1 << 24) - 1


class TorchNoise:
    """`torch.Generator().manual_seed(seed)`, for draws of at least 16 numbers."""

    def __init__(self, seed: int) -> None:
        self._twister = np.random.RandomState(seed & _WORD)  # whose way to seed it is torch's

    def draw(self, *shape: int) -> Array:
        """float32 numbers of mean 0 and deviation 1. Raises ValueError for fewer than 16."""
        count = math.prod(shape)
        if count < GROUP:
            raise ValueError(f"expected at least {GROUP} numbers, got {count}")
        drawn = self._uniform(count)
        whole = count - count % GROUP
        drawn[:whole] = _normal(drawn[:whole])
        if whole < count:
            drawn[-GROUP:] = _normal(self._uniform(GROUP))
        return drawn.reshape(shape)

    def _uniform(self, count: int) -> Array:
        """0 <= u < 1."""
        words = self._twister.randint(0, _WORD + 1, count, np.uint32) & _BITS
        return words.astype(np.float32) / np.float32(_BITS + 1)


def _normal(uniform: Array) -> Array:
    """Sixteens, of which the first eight give the lengths and the others the angles."""
    lengths, angles = uniform.reshape(-1, 2, GROUP // 2).transpose(1, 0, 2)
    lengths, angles = np.sqrt(-2 * np.log(1 - lengths)), np.float32(2 * np.pi) * angles
    return np.stack([lengths * np.cos(angles), lengths * np.sin(angles)], 1).reshape(-1)
