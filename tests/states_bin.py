"""Reading states.bin, as a client of the API would."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulation.episode_format import EpisodeFormatError


def from_float32(content: bytes, nq: int, nv: int) -> NDArray[np.float32]:
    """(steps + 1, 1 + nq + nv), as `to_float32` wrote it."""
    width = 1 + nq + nv
    if not content or len(content) % (4 * width):
        raise EpisodeFormatError(f"expected a whole number of rows of {4 * width} bytes, got {len(content)} bytes")
    return np.frombuffer(content, dtype="<f4").reshape(-1, width)
