"""Reading replay.bin, as a client of the API would."""

from __future__ import annotations

import numpy as np

from simulation.contracts import Floats

HEAD = 2
"""Numbers before the rows: -2 for the second format, and the numbers of a row."""


def rows_of_replay(content: bytes) -> Floats:
    """(steps + 1, row), writable."""
    numbers = np.frombuffer(content, "<f8")
    assert numbers[0] == -2
    return numbers[HEAD:].reshape(-1, int(numbers[1])).copy()


def replay_of_rows(rows: Floats) -> bytes:
    return np.array([-2.0, rows.shape[1]]).tobytes() + rows.astype("<f8").tobytes()
