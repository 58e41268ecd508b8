"""What a policy does where its hand has stalled or goes in circles: it draws its next move from what its network holds
possible. Where its hand rests as if the work were done, it begins anew.

Where a millimetre that no picture shows decides whether to close the fingers here or to come again from above, the move
with the least error is to stay with open fingers, and the next picture is the same. Where it is to lift a thing and to
set it down again, so are the pictures of the next time. A turn ends where its goal is reached: a hand that has let go
and rests while the turn goes on has not reached it.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from policies.film.decoding import PARTS, Numbers

Readings = NDArray[np.float32]
AGAIN = 3  # at so many looks the hand was where it is, ...
STANDS = 3, 0.03  # ... of so many, within so far of it [m]: it stalls
CIRCLES = 24, 0.01  # or of these: it goes in circles
FINGERS = 0.1  # by which their opening differs at most, 0..1
RESTS = 10, 0.03  # at so many looks in a row its fingers were open and x and y within so far [m] of now: it rests
OPEN = 0.8  # above this opening, 0..1, fingers hold nothing


class Stalling:
    """Notices a hand that has been where it is at several of its last looks, and has the random numbers of a turn."""

    def __init__(self) -> None:
        self._places = [_Places(*STANDS), _Places(*CIRCLES)]
        self.begin(0)

    def begin(self, seed: int) -> None:
        """A new turn."""
        for places in self._places:
            places.clear()
        self._random = np.random.default_rng(seed)

    def draw(self, readings: Readings) -> Numbers | None:
        """For a stalled hand, numbers 0..1 (PARTS,) to draw with; else None. `readings`: what the arm feels, x y z of
        the tool [m] first and the opening of the fingers last.
        """
        is_back = [places.is_back(readings) for places in self._places]  # each remembers this look
        return self._random.random(PARTS) if any(is_back) else None


class Resting:
    """Notices a hand that has let go and stays where it is, whatever its height."""

    def __init__(self) -> None:
        self._looks, self._near = RESTS
        self._seen: deque[Readings] = deque(maxlen=self._looks)
        self.begin = self._seen.clear

    def notices(self, readings: Readings) -> bool:
        """Whether it has rested at all of its last looks, which are then forgotten. `readings`: as `Stalling.draw`."""
        self._seen.append(readings)
        if len(self._seen) < self._looks or not all(self._is_at(readings, other) for other in self._seen):
            return False
        self.begin()
        return True

    def _is_at(self, one: Readings, other: Readings) -> bool:
        return bool(other[-1] > OPEN and np.linalg.norm(one[:2] - other[:2]) < self._near)


class _Places:
    """Where the hand was at its last `looks`, of which those count that are `near` [m]."""

    def __init__(self, looks: int, near: float) -> None:
        self._seen: deque[Readings] = deque(maxlen=looks)
        self._near = near
        self.clear = self._seen.clear

    def is_back(self, readings: Readings) -> bool:
        """Whether it was here at AGAIN of them, which are then forgotten."""
        times = sum(self._is_at(readings, other) for other in self._seen)
        self._seen.append(readings)
        if times < AGAIN:
            return False
        self.clear()
        return True

    def _is_at(self, one: Readings, other: Readings) -> bool:
        return bool(np.linalg.norm(one[:3] - other[:3]) <= self._near and abs(one[-1] - other[-1]) <= FINGERS)
