"""The moments that tell an episode: its start, the grasp or the first touch, the carrying, its end.

Needs numpy alone.
"""

from __future__ import annotations

import numpy as np

from simulation.contracts import Floats

CLOSED = 0.6
"""The fingers hold something, or have tried to, once they are less than this share as far apart as at the start."""
MOVED_M, LIFTED_M = 0.005, 0.015


def key_moments(finger: Floats, things: Floats, count: int = 4) -> list[int]:
    """`count` rows in order: the first, the last, and between them those that say most.

    `finger` (n,): how far a finger is open. `things` (n, objects, 3): where the objects are [m].
    With no objects the rows are evenly apart.
    """
    last = len(finger) - 1
    found = {0, last}
    if things.shape[1] == 0:
        return sorted({row * last // max(1, count - 1) for row in range(count)})
    found |= {row for row in (_taken(finger, things), _carried(things)) if row is not None and 0 < row < last}
    while len(found) < min(count, last + 1):
        rows = sorted(found)
        gap = max(range(1, len(rows)), key=lambda number: rows[number] - rows[number - 1])
        found.add((rows[gap] + rows[gap - 1]) // 2)
    return sorted(found)


def _taken(finger: Floats, things: Floats) -> int | None:
    """When the fingers close, or else when an object first moves."""
    closed = np.flatnonzero(finger < CLOSED * finger[0])
    if len(closed):
        return int(closed[0])
    moved = np.flatnonzero(_shift(things).max(axis=1) > MOVED_M)
    return int(moved[0]) if len(moved) else None


def _carried(things: Floats) -> int | None:
    """When an object is highest, or else when the one that moved most was half way."""
    height = things[..., 2] - things[0, :, 2]
    if height.max() > LIFTED_M:
        return int(height.max(axis=1).argmax())
    shift = _shift(things)
    most = shift[:, shift[-1].argmax()]
    return int(np.flatnonzero(most >= most[-1] / 2)[0]) if most[-1] > MOVED_M else None


def _shift(things: Floats) -> Floats:
    """How far each object is from where it was (n, objects) [m]."""
    distance: Floats = np.linalg.norm(things - things[0], axis=2)
    return distance
