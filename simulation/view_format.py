"""What a browser gets of an episode before the vote: positions rounded to visible differences, 25 times a second.

A view row is int16 little-endian (nq,): rint(qpos / scale), clipped. Row 0 is the start, row k the positions k / 25
seconds later, whatever the robot's control rate; the last is where the rollout ended, also when that is in between. No
velocity, action or exact number follows from them. Rows are passed on in chunks of a fifth of a second. Needs numpy
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulation.contracts import CONTROL_HZ, Floats, SimulationError

VIEW_HZ = 25
ROWS_PER_CHUNK = 5
CHUNK_S = ROWS_PER_CHUNK / VIEW_HZ
LENGTH_M, ANGLE_RAD, QUATERNION = 0.0002, np.pi / 1800, 0.001
"""What one unit of a row stands for: 0.2 mm, 0.1 degrees, a thousandth of a component."""
LARGEST = 32767
DECIMALS = 4  # of rows in JSON


class ViewFormatError(SimulationError, ValueError):
    """Invalid positions or bytes of a view."""


def pack(qpos: Floats, scale: Floats) -> bytes:
    """Rows of positions (n, nq) in MuJoCo's units as n * nq * 2 bytes. `scale` (nq,): what one unit stands for."""
    if qpos.ndim != 2 or qpos.shape[1:] != scale.shape:
        raise ViewFormatError(f"expected rows of {len(scale)} positions, got {qpos.shape}")
    return np.clip(np.rint(qpos / scale), -LARGEST, LARGEST).astype("<i2").tobytes()


def unpack(content: bytes, nq: int) -> NDArray[np.int16]:
    """The rows (n, nq) of packed bytes, in units of the scale."""
    if not content or nq < 1 or len(content) % (2 * nq):
        raise ViewFormatError(f"expected a whole number of rows of {2 * nq} bytes, got {len(content)} bytes")
    return np.frombuffer(content, dtype="<i2").reshape(-1, nq)


def pieces_of_rows(step: int, control_hz: int, pieces: int) -> list[int]:
    """After which pieces (1..pieces, the first that ends in time) of a control step rows are taken, in their order.

    `step` counts from the rollout's start. At 5 Hz every step has five rows, at 80 Hz every third or fourth has one.
    """
    first, last = VIEW_HZ * step // control_hz + 1, VIEW_HZ * (step + 1) // control_hz
    return [-(-row * control_hz * pieces // VIEW_HZ) - step * pieces for row in range(first, last + 1)]


def chunks_in(steps: int, control_hz: int) -> int:
    """The chunks in which so many control steps are passed on."""
    return -(-steps * VIEW_HZ // (control_hz * ROWS_PER_CHUNK))


def steps_in(chunks: int, control_hz: int) -> int:
    """The control steps of so many chunks, the last of which may end within a chunk."""
    return chunks * ROWS_PER_CHUNK * control_hz // VIEW_HZ


def rows_of(start: Floats, between: Sequence[Floats], end: Floats, control_hz: int) -> Floats:
    """All rows (n, nq) of a rollout: the start, those of each control step, and the end where it has no row."""
    rows = [start[None], *between]
    if len(between) * VIEW_HZ % control_hz:
        rows.append(end[None])
    return np.concatenate(rows)


class OpenChunk:
    """Gathers rows as they come into chunks of ROWS_PER_CHUNK."""

    def __init__(self, control_hz: int) -> None:
        self._control_hz = control_hz
        self._steps = 0
        self._rows: list[Floats] = []
        self._end: Floats | None = None

    def add(self, between: Floats, end: Floats) -> list[Floats]:
        """The chunks (ROWS_PER_CHUNK, nq) that the rows (n, nq) of the next control step complete. `end` (nq,): the
        positions after it.
        """
        self._steps += 1
        self._end = end
        self._rows += list(between)
        whole = len(self._rows) // ROWS_PER_CHUNK * ROWS_PER_CHUNK
        found = [np.stack(self._rows[at : at + ROWS_PER_CHUNK]) for at in range(0, whole, ROWS_PER_CHUNK)]
        self._rows = self._rows[whole:]
        return found

    def close(self) -> list[Floats]:
        """The last chunk, if it is incomplete, filled up with the end."""
        if self._end is None or not (self._rows or self._steps * VIEW_HZ % self._control_hz):
            return []
        last = self._end if self._steps * VIEW_HZ % self._control_hz else self._rows[-1]
        rows = self._rows + [last] * (ROWS_PER_CHUNK - len(self._rows))
        self._rows, self._end = [], None
        return [np.stack(rows)]


def between_records(states: Floats) -> Floats:
    """Rows for a recording without any (which is of 5 Hz), interpolated linearly between its states (steps + 1, nq)."""
    rows_per_step = VIEW_HZ // CONTROL_HZ
    records = np.arange(len(states)) * rows_per_step
    rows = np.arange(rows_per_step * (len(states) - 1) + 1)
    return np.stack([np.interp(rows, records, column) for column in states.T], axis=1)


def view_of(document: Mapping[str, Any], old_scale: Sequence[float] | None = None) -> tuple[bytes, Floats]:
    """The packed rows of an episode document, and their scale.

    `old_scale`: for old documents, which have no view.
    """
    scale = np.asarray(document.get("view_scale", old_scale), dtype=np.float64)
    if "view" in document:
        return bytes(document["view"]), scale
    states = np.asarray([state["qpos"] for state in document["states"]], dtype=np.float64)
    return pack(between_records(states), scale), scale


def until(chunks: int, content: bytes, nq: int) -> bytes:
    """The view up to a chunk, [5 chunks + 1, nq]. One that ended earlier repeats its last row."""
    rows = unpack(content, nq)
    wanted = ROWS_PER_CHUNK * chunks + 1
    return rows[np.minimum(np.arange(wanted), len(rows) - 1)].tobytes()


def rounded_states(content: bytes, scale: Floats) -> list[dict[str, Any]]:
    """The rows as an episode's states: time [s] and positions, without velocities."""
    rows = np.round(unpack(content, len(scale)) * scale, DECIMALS) + 0.0  # no negative zeros
    return [{"time": row / VIEW_HZ, "qpos": qpos, "qvel": []} for row, qpos in enumerate(rows.tolist())]
