"""What a policy does where its hand has stalled: it draws its next move from what its network holds possible.

Where a millimetre that no picture shows decides whether to close the fingers here or to come again from above, the move
with the least error is to stay with open fingers, and the next picture is the same.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from policies.film.decoding import PARTS, Numbers

LOOKS = 4  # in which the hand has stalled
NEAR = 0.03  # of each other, where the hand was at these looks [m]
FINGERS = 0.1  # by which their opening differs at most, 0..1


class Stalling:
    """Notices a hand that stands where it stood at the last looks, and has the random numbers of a turn."""

    def __init__(self) -> None:
        self._seen: deque[NDArray[np.float32]] = deque(maxlen=LOOKS)
        self.begin(0)

    def begin(self, seed: int) -> None:
        """A new turn."""
        self._seen.clear()
        self._random = np.random.default_rng(seed)

    def draw(self, readings: NDArray[np.float32]) -> Numbers | None:
        """For a stalled hand, numbers 0..1 (PARTS,) to draw with; else None. `readings`: what the arm feels, x y z of
        the tool [m] first and the opening of the fingers last.
        """
        self._seen.append(readings)
        if len(self._seen) < LOOKS or any(_differ(readings, other) for other in self._seen):
            return None
        self._seen.clear()
        return self._random.random(PARTS)


def _differ(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    return bool(np.linalg.norm(one[:3] - other[:3]) > NEAR or abs(one[-1] - other[-1]) > FINGERS)
